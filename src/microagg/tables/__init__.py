"""Tables go out as the kind they came in; between lie roles, types and the encoding of columns."""
