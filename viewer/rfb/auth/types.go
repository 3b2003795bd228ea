package auth

// The security types by their registered numbers, beside those of RFC 6143.
const (
	TypeRA2       = 5
	TypeRA2ne     = 6
	TypeTight     = 16
	TypeUltraVNC  = 17
	TypeTLS       = 18
	TypeVeNCrypt  = 19
	TypeAppleDH   = 30
	TypeAppleRSA  = 33
	TypeAppleSRP  = 36
	TypeMSLogonII = 113
	TypeRA2x256   = 129
	TypeRA2nex256 = 130
)
