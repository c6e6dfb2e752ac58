package care

// Unwritable says why a home cannot be written.
var Unwritable = unwritable

// NotWritable is the worst that doctor says of a home that cannot be written.
func NotWritable(err error, copied bool) string {
	d := &diagnosis{}
	d.notWritable(err, copied)
	return d.worst()
}
