"""Super Mario Bros."""
