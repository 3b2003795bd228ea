package plane

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"deskvnc/viewer"
)

// Agents and a person at the same machine, all at once, at random: on the wire
// no two of them are ever mixed without a release between, every settlement
// tells exactly what went, and nothing stays down.
func TestEverybodyAtOnce(t *testing.T) {
	for seed := range uint64(4) {
		bubble(t, func(t *testing.T, d *desk) { everybody(t, d, seed) })
	}
}

func everybody(t *testing.T, d *desk, seed uint64) {
	first := d.opened("a")
	agents := []*agent{first, d.operator("b"), d.operator("c")}
	n := d.pane()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	counted := make([]int, len(agents))
	for i, g := range agents {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		letter := string(rune('a' + i))
		all.Go(func() {
			for ctx.Err() == nil {
				at := `"limbId":"` + lab + `"`
				switch r.IntN(8) {
				case 0, 1:
					g.raw(ctx, "dvv_control", `{`+at+`,"action":"acquire","waitMs":`+itoa(r.IntN(3000))+`}`)
				case 2:
					g.raw(ctx, "dvv_control", `{`+at+`,"action":"release"}`)
				case 3:
					g.raw(ctx, "dvv_screen", `{`+at+`,"form":"region","region":{"x":0,"y":0,"w":8,"h":8}}`)
				case 4:
					g.raw(ctx, "dvv_click", `{`+at+`,"action":"drag","x":1,"y":1,"toX":90,"toY":90,"modifiers":["ctrl"]}`)
				case 5:
					g.raw(ctx, "dvv_click", `{`+at+`,"action":"double","x":1,"y":1}`)
				default:
					// The text is the agent's own letter, so that the wire tells
					// whose it is.
					g.raw(ctx, "dvv_screen", `{`+at+`,"form":"region","region":{"x":0,"y":0,"w":8,"h":8}}`)
					res := g.raw(ctx, "dvv_type", `{`+at+`,"text":"`+strings.Repeat(letter, 1+r.IntN(20))+`","wpm":`+itoa(600+r.IntN(3000))+`}`)
					for _, path := range []string{"progress.count", "settlement.progress.count"} {
						if c, ok := res.get(path).(float64); ok {
							counted[i] += int(c)
						}
					}
				}
				time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 99))
	all.Go(func() {
		person := viewer.Key{Sym: 'p', Scan: 0x19, Rune: 'p', Down: true}
		for ctx.Err() == nil {
			switch r.IntN(12) {
			case 0:
				n.HandBack()
			case 1:
				n.Stop()
				time.Sleep(time.Duration(r.IntN(31)) * time.Second)
			case 2:
				n.TakeWheel()
			case 3:
				n.Leave()
			case 4, 5:
				n.Input(hoverAt(r.IntN(200), r.IntN(100)))
			case 6:
				n.Input(pressAt(5, 5))
				time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
				n.Input(hoverAt(5, 5))
			case 7:
				n.Input(person)
				time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
				n.Input(up(person))
			default:
				n.HandBack()
				time.Sleep(time.Duration(r.IntN(6000)) * time.Millisecond)
			}
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
		}
	})
	time.Sleep(time.Minute)
	cancel()
	all.Wait()
	n.Close()
	for _, g := range agents[1:] {
		g.a.Close()
	}
	first.ok("dvv_control", `{"action":"release"}`)
	synctest.Wait()

	sent := map[byte]int{}
	last := byte(0)  // whose letter came last
	released := true // a pointer event with no buttons came since
	down := map[string]bool{}
	button := false
	log := d.machine.wire()
	for _, e := range log {
		switch {
		case e[0] == 'P':
			button = !strings.HasSuffix(e, " 0")
			released = released || !button
		case e[1] == '+':
			down[e[2:]] = true
			if len(e) == 4 { // a letter
				who := e[3]
				sent[who]++
				if last != 0 && who != last && !released {
					t.Fatalf("seed %d: %q after %q without a release", seed, who, last)
				}
				last, released = who, false
			}
		default:
			delete(down, e[2:])
		}
	}
	if len(down) > 0 || button {
		t.Errorf("seed %d: still down: %v, button %v", seed, down, button)
	}
	total := 0
	for i := range agents {
		who := "123"[i] // 'a' is 61, and so on
		if sent[who] != counted[i] {
			t.Errorf("seed %d: agent %d was told of %d characters, the wire has %d", seed, i, counted[i], sent[who])
		}
		total += counted[i]
	}
	if total == 0 {
		t.Errorf("seed %d: no agent ever typed", seed)
	}
}
