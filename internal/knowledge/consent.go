package knowledge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// consentName is a file in the home that says what the user answered for a project.
const consentName = "consent"

// Consent reports whether the user was asked to have the knowledge of a directory's project in that project, and agreed.
func Consent(home, dir string) (agreed, asked bool) {
	at, err := openAt(home, []string{homeDir, Key(Root(dir))}, false, 0)
	if err != nil {
		return false, false
	}
	defer at.Close()
	b, err := readRegular(at, consentName)
	said := strings.TrimSpace(string(b))
	return said == "yes", err == nil && (said == "yes" || said == "no")
}

// SetConsent keeps the user's answer. It is theirs to change: by another answer, or by removing the file.
func SetConsent(home, dir string, agreed bool) error {
	root := Root(dir)
	at, err := openAt(home, []string{homeDir, Key(root)}, true, 0o700)
	if err != nil {
		return err
	}
	defer at.Close()
	said := "no\n"
	if agreed {
		said = "yes\n"
	}
	if info, err := at.Lstat(consentName); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", filepath.Join(home, homeDir, Key(root), consentName), ErrLink)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := at.OpenFile(consentName, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(said)
	return errors.Join(err, f.Sync(), f.Close())
}
