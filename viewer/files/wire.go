package files

import (
	"encoding/binary"
	"errors"
	"math"
)

// Packet types of SFTP version 3, draft-ietf-secsh-filexfer-02 section 3.
const (
	typeInit          = 1
	typeVersion       = 2
	typeOpen          = 3
	typeClose         = 4
	typeRead          = 5
	typeWrite         = 6
	typeLstat         = 7
	typeFstat         = 8
	typeSetstat       = 9
	typeOpendir       = 11
	typeReaddir       = 12
	typeRemove        = 13
	typeMkdir         = 14
	typeRmdir         = 15
	typeRealpath      = 16
	typeStat          = 17
	typeRename        = 18
	typeReadlink      = 19
	typeStatus        = 101
	typeHandle        = 102
	typeData          = 103
	typeName          = 104
	typeAttrs         = 105
	typeExtended      = 200
	typeExtendedReply = 201
)

// Status codes, section 7.
const (
	statusOK          = 0
	statusEOF         = 1
	statusNoSuchFile  = 2
	statusPermission  = 3
	statusFailure     = 4
	statusBadMessage  = 5
	statusUnsupported = 8
)

// version is the one version that servers speak.
const version = 3

// Flags of OPEN, section 6.3.
const (
	openRead     = 0x01
	openWrite    = 0x02
	openCreate   = 0x08
	openTruncate = 0x10
	openNew      = 0x20 // with openCreate: it must not be there
)

// Attribute flags, section 5.
const (
	attrSize     = 0x1
	attrIDs      = 0x2
	attrMode     = 0x4
	attrTimes    = 0x8
	attrExtended = 0x80000000
)

// Bits of a mode, as POSIX has them.
const (
	modeType   = 0o170000
	modeSocket = 0o140000
	modeLink   = 0o120000
	modeFile   = 0o100000
	modeFolder = 0o040000
)

// maxPacket bounds one packet of the far side; OpenSSH's own bound.
const maxPacket = 256 << 10

// errCut says that a packet ends before what it announces.
var errCut = errors.New("a packet of the machine is cut short")

// attrs are the attributes of a file; flags says which are known.
type attrs struct {
	flags    uint32
	size     int64
	uid, gid uint32
	mode     uint32
	mtime    uint32
}

// A parser takes values off a packet. After the first fault all are zero and
// err is set.
type parser struct {
	b   []byte
	err error
}

func (p *parser) take(n int) []byte {
	if p.err != nil || n < 0 || n > len(p.b) {
		p.err, p.b = errCut, nil
		return nil
	}
	t := p.b[:n]
	p.b = p.b[n:]
	return t
}

func (p *parser) uint32() uint32 {
	if b := p.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (p *parser) uint64() uint64 {
	if b := p.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// bytes takes a counted string. The slice shares the packet.
func (p *parser) bytes() []byte {
	n := p.uint32()
	if n > maxPacket {
		p.err = errCut
		return nil
	}
	return p.take(int(n))
}

func (p *parser) attrs() attrs {
	a := attrs{flags: p.uint32(), size: -1}
	if a.flags&attrSize != 0 {
		if n := p.uint64(); n <= math.MaxInt64 {
			a.size = int64(n)
		}
	}
	if a.flags&attrIDs != 0 {
		a.uid, a.gid = p.uint32(), p.uint32()
	}
	if a.flags&attrMode != 0 {
		a.mode = p.uint32()
	}
	if a.flags&attrTimes != 0 {
		p.uint32()
		a.mtime = p.uint32()
	}
	if a.flags&attrExtended != 0 {
		for n := p.uint32(); n > 0 && p.err == nil; n-- {
			p.bytes()
			p.bytes()
		}
	}
	return a
}

// A packet is a request being built: without length, type and id.
type packet []byte

func (b packet) uint32(v uint32) packet { return binary.BigEndian.AppendUint32(b, v) }
func (b packet) add(v byte) packet      { return append(b, v) }
func (b packet) uint64(v uint64) packet { return binary.BigEndian.AppendUint64(b, v) }
func (b packet) text(s string) packet   { return append(b.uint32(uint32(len(s))), s...) }
