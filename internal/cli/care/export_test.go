package care

// Unwritable says why a home cannot be written.
var Unwritable = unwritable
