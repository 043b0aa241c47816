"""What people see while a run goes on: the terminal dashboard, or one line of progress."""
