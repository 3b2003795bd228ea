package rfb_test

import (
	"testing"

	"deskvnc/viewer/rfb"
	"deskvnc/viewer/viewertest"
)

func TestContractTigerVNC(t *testing.T) {
	viewertest.Suite{Driver: rfb.New(rfb.Options{}), Machine: newTigerPeer}.Run(t)
}
