package control

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"deskvnc/viewer"
)

// MachineKey is the canonical form of a machine: two targets with equal keys
// are the same machine. A saved host is known by its id, anything else by
// protocol, normalised address and port.
func MachineKey(t viewer.Target) string {
	if t.HostID != "" {
		return "p\x00" + t.HostID
	}
	return "e\x00" + string(t.Protocol) + "\x00" + viewer.Normalize(t.Address) + "\x00" + strconv.Itoa(t.Port)
}

// LimbID is the id of the session number slot to a machine. The same machine
// and slot give the same id tomorrow and in another process.
func LimbID(t viewer.Target, slot int) string {
	sum := sha256.Sum256([]byte(MachineKey(t)))
	return fmt.Sprintf("lmb_%s_%s_%d", t.Protocol, hex.EncodeToString(sum[:6]), slot)
}

// maxLimbID bounds the length of a limb id that a caller gives.
const maxLimbID = 64

// LimbIDShape reports whether s has the shape of a limb id. It says nothing
// about whether such a limb exists.
func LimbIDShape(s string) bool {
	if len(s) > maxLimbID || !strings.HasPrefix(s, "lmb_") || len(s) == len("lmb_") {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
