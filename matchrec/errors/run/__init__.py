"""What went wrong on which rows goes in; an error comes out that crosses processes as it is."""
