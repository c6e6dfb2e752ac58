package mention

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/perdure/perdure/internal/picture"
	"github.com/perdure/perdure/internal/ui/composer"
)

// errNoImage says that a file is no picture that models take, whatever its name says.
var errNoImage = errors.New("it is no PNG, JPEG, GIF or WebP")

// Images reads images that a person names: relative to a directory, absolute, or below the person's home.
type Images struct{ Dir, UserHome string }

// Image reads an image. Errors: composer.ErrNoFile; that it is too large, that it is none.
func (i Images) Image(_ context.Context, path string) (composer.Image, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && i.UserHome != "" {
		path = filepath.Join(i.UserHome, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(i.Dir, path)
	}
	img := composer.Image{Name: filepath.Base(path)}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe must not wait for a writer
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		return img, composer.ErrNoFile
	}
	if err != nil {
		return img, errors.Unwrap(err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return img, errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return img, composer.ErrNoFile
	case info.Size() > composer.MaxImage:
		return img, fmt.Errorf("it has %.1f MB, more than %d MB", float64(info.Size())/(1<<20), composer.MaxImage>>20)
	}
	if img.Data, err = io.ReadAll(io.LimitReader(f, composer.MaxImage+1)); err != nil {
		return img, err
	}
	if img.Media = picture.Media(img.Data); img.Media == "" {
		return composer.Image{}, errNoImage
	}
	return img, nil
}
