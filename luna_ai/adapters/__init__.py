"""Luna for other libraries. Each module needs its library; nothing else in the package imports one of them."""
