// Package invalid is the kind of an error about what a caller has given, which no second attempt mends.
package invalid

import "errors"

// Err is what every error of this kind is.
var Err = errors.New("not valid")

// New makes an error of this kind, with words of its own.
func New(words string) error { return &invalid{words} }

type invalid struct{ words string }

func (i *invalid) Error() string { return i.words }

// Is reports whether target is the kind.
func (i *invalid) Is(target error) bool { return target == Err }
