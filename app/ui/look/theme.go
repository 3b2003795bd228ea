// Package look is what the window looks like: its colours, sizes and the few
// shapes that the toolkit does not have. It knows nothing of sessions.
package look

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Colours of ours beside the toolkit's, by name.
const (
	ColorBar    fyne.ThemeColorName = "deskBar"    // tabs and tool bars
	ColorCard   fyne.ThemeColorName = "deskCard"   // what stands on the background
	ColorBorder fyne.ThemeColorName = "deskBorder" // thin lines around and between
	ColorMuted  fyne.ThemeColorName = "deskMuted"  // text of second rank
	ColorStage  fyne.ThemeColorName = "deskStage"  // around a remote picture
	ColorVeil   fyne.ThemeColorName = "deskVeil"   // over a picture that is not live
	ColorAgent  fyne.ThemeColorName = "deskAgent"  // an agent drives
	ColorHand   fyne.ThemeColorName = "deskHand"   // the person has taken over
	ColorOnTint fyne.ThemeColorName = "deskOnTint" // text on a coloured ground

	ColorTintButton fyne.ThemeColorName = "deskTintButton" // a button on a coloured ground
	ColorTintOver   fyne.ThemeColorName = "deskTintOver"   // the same under the pointer
)

// Theme is the look as a toolkit theme, dark and light.
type Theme struct{}

var _ fyne.Theme = Theme{}

// pair is a colour in the dark and the light look.
type pair struct{ dark, light color.NRGBA }

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

func rgba(v uint32, a uint8) color.NRGBA {
	c := rgb(v)
	c.A = a
	return c
}

var colors = map[fyne.ThemeColorName]pair{
	theme.ColorNameBackground:          {rgb(0x16181c), rgb(0xf4f5f7)},
	theme.ColorNameForeground:          {rgb(0xe7e9ed), rgb(0x1b1f26)},
	theme.ColorNamePlaceHolder:         {rgb(0x8b93a0), rgb(0x6a7280)},
	theme.ColorNameDisabled:            {rgb(0x5d646f), rgb(0xa3a9b3)},
	theme.ColorNameButton:              {rgb(0x2a2e36), rgb(0xe6e8ec)},
	theme.ColorNameDisabledButton:      {rgb(0x22252b), rgb(0xeceef1)},
	theme.ColorNamePrimary:             {rgb(0x4c8df6), rgb(0x1f63d6)},
	theme.ColorNameForegroundOnPrimary: {rgb(0xffffff), rgb(0xffffff)},
	theme.ColorNameHyperlink:           {rgb(0x7db0ff), rgb(0x1f63d6)},
	theme.ColorNameFocus:               {rgba(0x4c8df6, 0x66), rgba(0x1f63d6, 0x55)},
	theme.ColorNameSelection:           {rgba(0x4c8df6, 0x55), rgba(0x1f63d6, 0x40)},
	theme.ColorNameHover:               {rgba(0xffffff, 0x12), rgba(0x000000, 0x0e)},
	theme.ColorNamePressed:             {rgba(0xffffff, 0x22), rgba(0x000000, 0x1c)},
	theme.ColorNameInputBackground:     {rgb(0x101215), rgb(0xffffff)},
	theme.ColorNameInputBorder:         {rgb(0x3a404a), rgb(0xc5cad2)},
	theme.ColorNameMenuBackground:      {rgb(0x23262d), rgb(0xffffff)},
	theme.ColorNameOverlayBackground:   {rgb(0x1f2228), rgb(0xffffff)},
	theme.ColorNameSeparator:           {rgb(0x30343c), rgb(0xdcdfe4)},
	theme.ColorNameScrollBar:           {rgba(0xffffff, 0x55), rgba(0x000000, 0x50)},
	theme.ColorNameShadow:              {rgba(0x000000, 0x66), rgba(0x000000, 0x2a)},
	theme.ColorNameError:               {rgb(0xec6a5e), rgb(0xc0352b)},
	theme.ColorNameForegroundOnError:   {rgb(0xffffff), rgb(0xffffff)},
	theme.ColorNameSuccess:             {rgb(0x52b788), rgb(0x2b8257)},
	theme.ColorNameWarning:             {rgb(0xe3ac45), rgb(0x94640a)},

	ColorBar:    {rgb(0x1e2126), rgb(0xffffff)},
	ColorCard:   {rgb(0x1f2228), rgb(0xffffff)},
	ColorBorder: {rgb(0x30343c), rgb(0xdcdfe4)},
	ColorMuted:  {rgb(0x9aa2ae), rgb(0x5a6270)},
	ColorStage:  {rgb(0x0d0e10), rgb(0xd3d7dd)},
	ColorVeil:   {rgba(0x0d0e10, 0xb8), rgba(0xe9ebef, 0xb8)},
	ColorAgent:  {rgb(0x7a5cd6), rgb(0x6a4bc8)},
	ColorHand:   {rgb(0x2c6a4f), rgb(0x2b7a57)},
	ColorOnTint: {rgb(0xffffff), rgb(0xffffff)},

	ColorTintButton: {rgba(0xffffff, 0x38), rgba(0xffffff, 0x38)},
	ColorTintOver:   {rgba(0xffffff, 0x58), rgba(0xffffff, 0x58)},
}

// Color gives a colour of the look.
func (Theme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	if p, ok := colors[name]; ok {
		if variant == theme.VariantLight {
			return p.light
		}
		return p.dark
	}
	return theme.DefaultTheme().Color(name, variant)
}

// Font gives the toolkit's fonts.
func (Theme) Font(s fyne.TextStyle) fyne.Resource { return theme.DefaultTheme().Font(s) }

// Icon gives the toolkit's icons.
func (Theme) Icon(n fyne.ThemeIconName) fyne.Resource { return theme.DefaultTheme().Icon(n) }

// Size gives the sizes of the look: a little tighter than the toolkit's.
func (Theme) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText:
		return 13
	case theme.SizeNameCaptionText:
		return 11.5
	case theme.SizeNameSubHeadingText:
		return 17
	case theme.SizeNameHeadingText:
		return 23
	case theme.SizeNameInnerPadding:
		return 7
	case theme.SizeNameInlineIcon:
		return 18
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius:
		return 6
	case theme.SizeNameScrollBar:
		return 12
	}
	return theme.DefaultTheme().Size(name)
}

// Color is a colour of the look as it is now.
func Color(name fyne.ThemeColorName) color.Color {
	return theme.Color(name)
}
