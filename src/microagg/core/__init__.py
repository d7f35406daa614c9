"""What every other room stands on: errors, checks, the registry, progress, parallel work."""
