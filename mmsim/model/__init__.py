"""What a machine is: units with a rule of conflicts, threads and blocks, layouts, rounds."""
