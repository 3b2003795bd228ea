package control

import "strings"

// The schemas of what tools return. They name what is always there and leave
// room for more, so that a client which checks them never throws a true answer
// away.
const (
	schemaString    = `{"type":"string"}`
	schemaBool      = `{"type":"boolean"}`
	schemaInt       = `{"type":"integer"}`
	schemaNumber    = `{"type":"number"}`
	schemaAnyObject = `{"type":"object"}`
	schemaMaybeText = `{"type":["string","null"]}`
	schemaMaybeInt  = `{"type":["integer","null"]}`
)

const schemaRect = `{"type":"object","properties":{"x":` + schemaInt + `,"y":` + schemaInt + `,"w":` + schemaInt + `,"h":` + schemaInt +
	`},"required":["x","y","w","h"]}`

const schemaState = `{"type":"object","properties":{"state":{"type":"string","enum":["idle","resolving","connecting","authenticating","negotiating","connected","reconnecting","disconnected"]},` +
	`"method":` + schemaString + `,"attempt":` + schemaInt + `,"next_retry_ms":` + schemaInt + `,"reason":` + schemaString +
	`,"can_retry":` + schemaBool + `,"symbol":` + schemaString + `},"required":["state"]}`

const schemaLease = `{"type":"object","properties":{"held":` + schemaBool + `,"phase":` + schemaString + `,"holder_kind":` + schemaMaybeText +
	`,"holder_label":` + schemaMaybeText + `,"queue_depth":` + schemaInt + `,"queue_position":` + schemaMaybeInt +
	`,"human_took_over":` + schemaBool + `},"required":["held","phase","human_took_over"]}`

// An envelope has a value only when it is live, else a reason.
const (
	envelopeHead = `{"type":"object","properties":{"availability":{"type":"string","enum":["live","absent","unknown"]},"reason":` + schemaString
	envelopeTail = `},"required":["availability"]}`

	schemaSignal  = envelopeHead + envelopeTail
	schemaSignals = `{"type":"object","additionalProperties":` + schemaSignal + `}`
)

const schemaCard = `{"type":"object","properties":{"limb_id":` + schemaString + `,"protocol":` + schemaString + `,"host":` + schemaString +
	`,"slot":` + schemaInt + `,"state":` + schemaState + `,"size":{"type":"object","properties":{"width":` + schemaInt + `,"height":` + schemaInt +
	`}},"grounding":{"type":"string","enum":["pixels","cells","none"]},"geometry_generation":` + schemaInt +
	`,"offers":{"type":"array","items":` + schemaString + `},"allows":{"type":"array","items":` + schemaString +
	`},"lease":` + schemaLease + `,"what":` + schemaString + `,"steer_away":` + schemaMaybeText + `,"has_mirror":` + schemaBool +
	`,"index":` + schemaInt + `},"required":["limb_id","protocol","host","slot","state"]}`

const schemaLive = `{"type":"object","properties":{"limb_id":` + schemaString + `,"host":` + schemaString + `,"host_id":` + schemaMaybeText +
	`,"port":` + schemaInt + `,"protocol":` + schemaString + `,"slot":` + schemaInt + `,"state":` + schemaState +
	`,"attached_elsewhere":` + schemaBool + `},"required":["limb_id","host","protocol","state"]}`

const schemaHost = `{"type":"object","properties":{"host_id":` + schemaString + `,"label":` + schemaString + `,"address":` + schemaString +
	`,"port":` + schemaInt + `,"protocol":` + schemaString + `,"credential_stored":` + schemaBool + `,"discovered":` + schemaBool +
	`},"required":["host_id","label","address","port","protocol"]}`

const schemaObservation = `{"type":"object","properties":{"schema":{"const":"` + ObservationSchema + `"},"limb_id":` + schemaString + `,"protocol":` + schemaString +
	`,"captured_at":` + schemaInt + `,"state":` + schemaState +
	`,"geometry":{"type":"object","properties":{"generation":` + schemaInt +
	`,"space":{"type":"object","properties":{"width":` + schemaInt + `,"height":` + schemaInt + `,"unit":{"type":"string","enum":["pixels","cells"]}}}` +
	`,"screens":{"type":"array","items":` + schemaAnyObject + `},"primary_known":` + schemaBool + `},"required":["generation","space"]}` +
	`,"frame":{"type":"object","properties":{"form":` + schemaString + `,"space_rect":` + schemaRect + `,"scale":` + schemaNumber +
	`,"coverage":{"type":"string","enum":["complete","partial"]},"generation":` + schemaInt + `,"bytes":` + schemaInt + `}}` +
	`,"locks":` + envelopeHead + `,"value":{"type":"object","properties":{"caps":` + schemaBool + `,"num":` + schemaBool + `,"scroll":` + schemaBool + `}}` + envelopeTail +
	`,"damage":` + envelopeHead + `,"value":{"type":"object","properties":{"union":` + schemaRect + `,"rects":` + schemaInt + `,"coverage":` + schemaNumber + `}}` + envelopeTail +
	`,"desktop_name":` + envelopeHead + `,"value":` + schemaString + envelopeTail +
	`,"session":` + schemaAnyObject + `,"terminal":` + schemaAnyObject +
	`,"last_error":` + envelopeHead + `,"value":{"type":"object","properties":{"code":` + schemaInt + `,"symbol":` + schemaString + `,"message":` + schemaString + `}}` + envelopeTail +
	`,"lease":` + schemaLease + `,"signals":` + schemaSignals + `,"untrusted":{"const":true}},` +
	`"required":["schema","limb_id","protocol","captured_at","state","geometry","lease","signals","untrusted"]}`

// settlementFields are the fields of a settled act.
const settlementFields = `"limbId":` + schemaString + `,"intent":` + schemaInt +
	`,"outcome":{"type":"string","enum":["delivered","partial","timed-out","superseded","cancelled","refused","link-lost","unknown"]}` +
	`,"progress":{"type":"object","properties":{"kind":` + schemaString + `,"count":` + schemaInt +
	`,"released_at":{"type":"object","properties":{"x":` + schemaInt + `,"y":` + schemaInt + `}},"points_delivered":` + schemaInt +
	`,"release_synthesised":` + schemaBool + `},"required":["kind"]}` +
	`,"gaps":` + schemaAnyObject + `,"lease":` + schemaLease

const schemaSettlement = `{"type":"object","properties":{` + settlementFields +
	`,"resolved":{"type":"array","items":` + schemaString + `},"reason":` + schemaString + `},"required":["limbId","outcome"]}`

const schemaControl = `{"type":"object","properties":{"limb_id":` + schemaString + `,"action":` + schemaString + `,"outcome":` + schemaString +
	`,"lease_id":` + schemaMaybeInt + `,"held":` + schemaBool +
	`,"view":{"type":"object","properties":{"limb":` + schemaString + `,"mode":` + schemaString + `,"phase":` + schemaString +
	`,"holder_kind":` + schemaMaybeText + `,"holder_label":` + schemaMaybeText + `,"you_hold":` + schemaBool +
	`,"queue_depth":` + schemaInt + `,"queue_position":` + schemaMaybeInt + `}}` +
	`,"released":{"type":"array","items":` + schemaString + `}` +
	`,"control_yield":{"type":"object","properties":{"limb_id":` + schemaString + `,"reason":` + schemaString + `,"by_label":` + schemaMaybeText +
	`,"human_took_over":` + schemaBool + `,"interrupted":{"type":"array","items":` + schemaString + `},"advice":` + schemaString + `}}` +
	`},"required":["limb_id","action","outcome","held"]}`

const schemaScreen = `{"type":"object","properties":{"observation":` + schemaObservation + `,"bytes":` + schemaInt +
	`,"screen":{"type":"object","properties":{"rung":{"type":"string","enum":["frame","region","change"]}` +
	`,"space":{"type":"object","properties":{"width":` + schemaInt + `,"height":` + schemaInt + `}}` +
	`,"image":{"type":"object","properties":{"format":` + schemaString + `,"space":{"type":"object","properties":{"region":` + schemaAnyObject +
	`,"width":` + schemaInt + `,"height":` + schemaInt + `,"scale":` + schemaNumber + `}},"encoded_bytes":` + schemaInt + `}}` +
	`,"coverage":{"type":"string","enum":["complete","partial"]},"stale_regions":{"type":"array","items":` + schemaAnyObject + `}` +
	`,"geometry_generation":` + schemaInt + `,"captured_at":` + schemaInt +
	`,"screens":` + envelopeHead + `,"value":{"type":"array","items":` + schemaAnyObject + `}` + envelopeTail + `,"primary_known":` + schemaBool +
	`,"damage":{"type":"array","items":` + schemaAnyObject + `},"remaining_changes":` + schemaInt + `,"degraded":` + schemaString + `}}` +
	`,"text":` + schemaString + `},"required":["observation"]}`

const schemaWait = `{"type":"object","properties":{"limbId":` + schemaString + `,"settled":` + schemaBool + `,"waitedMs":` + schemaInt +
	`,"askedMs":` + schemaInt + `,"clampedMs":` + schemaInt + `,"reason":` + schemaString +
	`,"observed":{"type":"object","properties":{"signal":{"type":"string","enum":["damage","output-bytes","none"]},"quiet_ms":` + schemaInt +
	`,"damage_rects":` + schemaInt + `,"bytes":` + schemaInt + `,"confidence":` + schemaNumber + `}},"exit":{"type":"object","properties":{"code":` + schemaMaybeInt + `,"signal":` + schemaMaybeText +
	`}},"observation":` + schemaObservation +
	`},"required":["limbId","settled"]}`

// set settles like an act, get gives text.
const schemaClipboard = `{"type":"object","properties":{` + settlementFields + `,"reason":` + schemaString + `,"replacedCharacters":` + schemaInt + `,"text":` + schemaString + `},"required":["limbId"]}`

const schemaRun = `{"type":"object","properties":{` + settlementFields + `,"reason":` + schemaString +
	`,"exit":{"type":"object","properties":{"code":` + schemaMaybeInt + `,"signal":` + schemaMaybeText + `,"source":` + schemaString +
	`,"unanswered":` + schemaMaybeText + `,"why":` + schemaMaybeText + `}}` +
	`,"stdout":` + schemaString + `,"stderr":` + schemaString + `,"stdoutBase64":` + schemaString + `,"stderrBase64":` + schemaString +
	`,"stdoutBytes":` + schemaInt + `,"stderrBytes":` + schemaInt + `,"dropped":` + schemaAnyObject +
	`,"durationMs":` + schemaInt + `,"timedOut":` + schemaBool + `,"background":` + schemaBool + `},"required":["limbId","outcome"]}`

const schemaTermRead = `{"type":"object","properties":{"limbId":` + schemaString + `,"text":` + schemaString + `,"cursor":` + schemaString +
	`,"lost":` + schemaInt + `,"more":` + schemaBool + `,"unfinished":` + schemaBool + `,"altScreen":` + schemaBool +
	`},"required":["limbId","text","cursor"]}`

const schemaFiles = `{"type":"object","properties":{"limbId":` + schemaString + `,"path":` + schemaString +
	`,"entries":{"type":"array","items":{"type":"object","properties":{"name":` + schemaString + `,"path":` + schemaString + `,"isDir":` + schemaBool +
	`,"size":` + schemaInt + `,"modified":` + schemaMaybeInt + `,"mode":` + schemaInt + `,"isSymlink":` + schemaBool + `}}},"count":` + schemaInt +
	`,"size":` + schemaInt + `,"windows":` + schemaInt + `,"savedTo":` + schemaMaybeText + `,"encoding":` + schemaString + `,"sent":` + schemaInt +
	`,"from":` + schemaMaybeText + `,"created":` + schemaBool + `,"removed":` + schemaBool + `,"recursive":` + schemaBool + `,"renamed":` + schemaBool +
	`},"required":["limbId"]}`

// schemaRefusal is what structuredContent holds when a tool refuses.
const schemaRefusal = `{"type":"object","properties":{"code":` + schemaString + `,"message":` + schemaString + `,"hint":` + schemaString +
	`,"settlement":` + schemaAnyObject + `},"required":["code","message","hint"]}`

// schemaObject is an object with the given properties; required lists the
// names of those that are always there, with commas.
func schemaObject(required, properties string) string {
	s := `{"type":"object","properties":{` + properties + `}`
	if required != "" {
		s += `,"required":["` + strings.ReplaceAll(required, ",", `","`) + `"]`
	}
	return s + "}"
}

func schemaArray(items string) string { return `{"type":"array","items":` + items + `}` }
