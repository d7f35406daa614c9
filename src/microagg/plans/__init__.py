"""What was asked (`Plan`) and what was done (`Manifest`)."""
