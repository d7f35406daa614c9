"""What every pass stands on: lists of tasks, who does them, and within which memory."""
