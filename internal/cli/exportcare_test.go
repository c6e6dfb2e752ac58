package cli

// Unwritable says why a home cannot be written.
var Unwritable = unwritable
