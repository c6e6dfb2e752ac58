package seal_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"filippo.io/age"

	"github.com/perdure/perdure/internal/seal"
)

func sealed(t *testing.T, text string, keys []string, passphrase string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := seal.To(&b, keys, passphrase)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func opened(b []byte, files []string, passphrase string) (string, error) {
	r, err := seal.Open(bytes.NewReader(b), files, passphrase)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// What is sealed to keys is opened by each of them and by no other; what is changed or cut is not taken for whole.
func TestSealedToKeys(t *testing.T) {
	var public, secret []string
	for range 3 {
		id, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		public, secret = append(public, id.Recipient().String()), append(secret, "# a comment\n"+id.String()+"\n")
	}
	b := sealed(t, "the words", public[:2], "")
	if !seal.Sealed(b) || seal.Sealed([]byte("perdure-bundle\n\x01")) || bytes.Contains(b, []byte("the words")) {
		t.Errorf("%q", b)
	}
	for i, want := range []error{nil, nil, seal.ErrWrongKey} {
		if text, err := opened(b, secret[i:i+1], ""); !errors.Is(err, want) || err == nil && text != "the words" {
			t.Errorf("key %d: %q, %v", i, text, err)
		}
	}
	if _, err := opened(b, nil, ""); !errors.Is(err, seal.ErrKey) {
		t.Errorf("without a key: %v", err)
	}
	for i := range b {
		other := bytes.Clone(b)
		other[i] ^= 1
		if text, err := opened(other, secret[:1], ""); err == nil && text == "the words" && i > len(b)-20 {
			t.Fatalf("byte %d changed, and it is taken for whole", i)
		}
	}
	if _, err := opened(b[:len(b)-1], secret[:1], ""); err == nil {
		t.Error("cut, and taken for whole")
	}
	if err := seal.Check([]string{public[0], "age1nonsense"}); !errors.Is(err, seal.ErrKey) {
		t.Errorf("a bad key: %v", err)
	}
}

// What is sealed with a passphrase is opened with it and with no other.
func TestSealedWithAPassphrase(t *testing.T) {
	b := sealed(t, "the words", nil, "correct horse")
	if text, err := opened(b, nil, "correct horse"); err != nil || text != "the words" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := opened(b, nil, "battery staple"); !errors.Is(err, seal.ErrWrongKey) {
		t.Errorf("another passphrase: %v", err)
	}
}
