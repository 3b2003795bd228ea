package secret

import (
	"context"

	"deskvnc/viewer"
)

// A Store keeps secrets. Get of what is not there is an error of kind
// NotFound, and never an empty secret; Delete of it succeeds.
type Store interface {
	Get(ctx context.Context, k Key) (viewer.Secret, error)
	Set(ctx context.Context, k Key, s viewer.Secret) error
	Delete(ctx context.Context, k Key) error
}

// A Forgetter removes all secrets of an owner: a host or a login is deleted.
type Forgetter interface {
	DeleteOwner(ctx context.Context, owner string) error
}

// A Prober looks without asking a person anything and without reading a secret.
type Prober interface {
	Has(ctx context.Context, k Key) (bool, error)
	Status(ctx context.Context) State
}
