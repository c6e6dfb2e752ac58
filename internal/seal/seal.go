// Package seal encrypts a stream to people's keys or to a passphrase, and back, in the age format (age-encryption.org).
//
// What is opened comes in pieces of 64 KiB, each of which is proven before it is handed out; that it is whole is known
// at its end. Who wrote it is not: anyone may encrypt to a public key.
package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// intro begins every age file.
const intro = "age-encryption.org/v1\n"

// Peek is how many bytes [Sealed] wants to see.
const Peek = len(intro)

// Sealed reports whether a stream that begins like this is encrypted.
func Sealed(begin []byte) bool { return bytes.HasPrefix(begin, []byte(intro)) }

// ErrKey says that something is no key, or no passphrase.
var ErrKey = errors.New("no key of age")

// ErrWrongKey says that none of the keys opens it.
var ErrWrongKey = errors.New("none of the keys opens it")

// maxKeys bounds the keys of one stream.
const maxKeys = 100

// To encrypts to public keys (age1…), or to a passphrase if there are none. Close ends it, and leaves the stream open.
func To(w io.Writer, keys []string, passphrase string) (io.WriteCloser, error) {
	var to []age.Recipient
	for _, k := range keys {
		r, err := recipient(strings.TrimSpace(k))
		if err != nil {
			return nil, err
		}
		to = append(to, r)
	}
	if len(to) == 0 {
		r, err := age.NewScryptRecipient(passphrase)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKey, err)
		}
		to = append(to, r)
	}
	return age.Encrypt(w, to...)
}

func recipient(key string) (age.Recipient, error) {
	if strings.HasPrefix(key, "age1pq1") {
		r, err := age.ParseHybridRecipient(key)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrKey, key, err)
		}
		return r, nil
	}
	r, err := age.ParseX25519Recipient(key)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrKey, key, err)
	}
	return r, nil
}

// Check says what is wrong with public keys.
func Check(keys []string) error {
	if len(keys) > maxKeys {
		return fmt.Errorf("%w: %d keys: at most %d", ErrKey, len(keys), maxKeys)
	}
	for _, k := range keys {
		if _, err := recipient(strings.TrimSpace(k)); err != nil {
			return err
		}
	}
	return nil
}

// Open decrypts with the secret keys that texts of key files hold, or with a passphrase if there are none. Errors: ErrKey,
// ErrWrongKey.
func Open(r io.Reader, files []string, passphrase string) (io.Reader, error) {
	var with []age.Identity
	for _, text := range files {
		ids, err := age.ParseIdentities(strings.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKey, err)
		}
		with = append(with, ids...)
	}
	if passphrase != "" {
		id, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKey, err)
		}
		id.SetMaxWorkFactor(maxWork)
		with = append(with, id)
	}
	if len(with) == 0 {
		return nil, fmt.Errorf("%w is given, and it is encrypted", ErrKey)
	}
	out, err := age.Decrypt(r, with...)
	var wrong *age.NoIdentityMatchError
	if errors.As(err, &wrong) {
		return nil, ErrWrongKey
	}
	return out, err
}

// maxWork bounds what a passphrase may cost to try, as a power of two: 20 is about 1 GiB of memory.
const maxWork = 20
