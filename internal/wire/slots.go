// SPDX-License-Identifier: Apache-2.0

package wire

import "bytes"

// The known places. Those of one group stand together, so that a range tells
// the group.
const (
	none slot = iota
	root      // the whole document
	sID
	sModel
	sTier
	sFingerprint
	sUsage
	sInDetails
	sOutDetails
	sError  // an object, or its text alone
	sDetail // FastAPI's name for it
	sBaseResp
	sXGroq

	eMessage
	eType
	eCode
	eStatus  // the HTTP status in the body: a code where there is no other
	eSuccess // false: it is an error
	eObject  // "error": it is one
	eOther   // another member of an error object

	uInput
	uOutput
	uTotal
	uCacheRead
	uCacheWrite
	uReasoning
	uInText // by modality: text, image, audio
	uInImage
	uInAudio
	uOutText
	uOutImage
	uOutAudio

	gValue // a number in a group of timings
	gTimings
	gTimeInfo
	gCheckpoint
	gSLA

	sChoice
	cIndex
	cFinish
	sDelta
	sMessage
	cContent
	cText
	cRefusal
	cReason0 // reasoning_content; the next three are the other sources, in order of preference
	cReason1 // reasoning
	cReason2 // reasoning_details[].text or .summary
	cThought // parts of a content array
	cAudio
	cSpeech // the transcript of it
	sRDetail
	sAudio
	sTool
	sFunc
	sFuncCall
	tIndex
	tID
	tItemID // of a Responses item, where its call has no id
	tName
	tArgs

	oText // the text of a transcription

	rType // Responses
	rStatus
	rReason
	rItemType
	rOutputIndex
	rPartIndex
	sResponse
	sIncomplete
	sItem
	sItemContent
	sItemSummary
	rDelta
	rText
	rPartText
	rPartRefusal
	rCode
	rArgs

	qModel // requests
	qStream
	qN
	qMaxTokens
	qTemperature
	qTopP
	qIncludeUsage
	qStreamOptions
	qTools
	qMessages
	qFrequency
	qPresence
	qSeed
	qTopK
	qDimensions
	qTier
	qPrevious
	qEffort
	qReasoning
	qFormat
	qFormatType
	qText
	qStop
	qModalities
	qEncoding

	numSlots

	eFirst, eLast = eMessage, eOther
	uFirst, uLast = uInput, uOutAudio
	rFirst, rLast = rType, rArgs
	qFirst, qLast = qModel, qEncoding
)

// kinds says what becomes of a string in a place.
var kinds = [numSlots]strKind{
	sID: strShort, sModel: strShort, sTier: strShort, sFingerprint: strShort,
	eMessage: strShort, eType: strShort, eCode: strShort, eStatus: strShort, eObject: strShort, eOther: strShort,
	sError: strShort, sDetail: strShort,
	cFinish: strShort, tID: strShort, tItemID: strShort, tName: strShort,
	sItemContent: strText, cContent: strText, cText: strText, cRefusal: strText, cAudio: strText, cSpeech: strText, tArgs: strText,
	cReason0: strText, oText: strText, cReason1: strText, cReason2: strText, cThought: strText,
	rType: strShort, rStatus: strShort, rReason: strShort, rItemType: strShort,
	rDelta: strText, rText: strText, rPartText: strText, rPartRefusal: strText, rCode: strShort, rArgs: strText,
	qModel: strShort, qMessages: strShort, qTier: strShort, qPrevious: strShort, qEffort: strShort, qFormatType: strShort, qStop: strShort, qModalities: strShort, qEncoding: strShort,
}

// child returns the place of a member, none when no table knows it.
func (d *Decoder) child(parent slot, k []byte) slot {
	switch parent {
	case root:
		switch {
		case d.req != nil:
			return requestChild(k)
		case d.api == Responses:
			return d.responsesChild(k)
		case d.api == ChatCompletions || d.api == Completions:
			return chatChild(k)
		}
		return d.otherChild(k)
	case sChoice:
		return choiceChild(k)
	case sDelta, sMessage:
		return deltaChild(k)
	case sUsage:
		s := usageChild(k)
		switch {
		case d.facts == nil:
		case s == uInput:
			d.facts.inputTokens = string(k) == "input_tokens"
		case s == uCacheRead || s == uCacheWrite:
			d.facts.cacheInput = d.facts.cacheInput || bytes.HasSuffix(k, []byte("_input_tokens"))
		}
		if s == gValue {
			d.group = none
			d.nameTiming(k)
		}
		return s
	case sInDetails:
		return inDetailsChild(k)
	case sOutDetails:
		return outDetailsChild(k)
	case sError:
		return errorChild(k)
	case sDetail:
		return detailChild(k)
	case sBaseResp:
		return baseRespChild(k)
	case sXGroq:
		switch string(k) {
		case "usage":
			return sUsage
		case "error":
			return sError
		}
	case gTimings, gTimeInfo, gCheckpoint, gSLA:
		if !isTiming(k) {
			return none
		}
		d.group = parent
		d.nameTiming(k)
		return gValue
	case cContent, cThought:
		return d.partPlace(parent, k)
	case sRDetail:
		switch string(k) {
		case "text", "summary":
			return cReason2
		}
	case sAudio:
		switch string(k) {
		case "data":
			return cAudio
		case "transcript":
			return cSpeech
		}
	case sTool:
		return toolChild(k)
	case sFunc, sFuncCall:
		return funcChild(k)
	case sResponse:
		return d.responseObjectChild(k)
	case rDelta:
		if string(k) == "text" {
			return rDelta // of a summary
		}
	case sIncomplete:
		if string(k) == "reason" {
			return rReason
		}
	case sItem:
		return itemChild(k)
	case sItemContent, sItemSummary:
		switch string(k) {
		case "text":
			return rPartText
		case "refusal":
			return rPartRefusal
		}
	case qStreamOptions:
		if string(k) == "include_usage" {
			return qIncludeUsage
		}
	case qReasoning:
		if string(k) == "effort" {
			return qEffort
		}
	case qText:
		if string(k) == "format" {
			return qFormat
		}
	case qFormat:
		if string(k) == "type" {
			return qFormatType
		}
	}
	return none
}

// partPlace tells a part's text from a thought's: the parts of a thought are
// reasoning, whatever they call their text.
func (d *Decoder) partPlace(parent slot, k []byte) slot {
	s := partChild(k)
	if parent == cThought && s == cContent {
		return cThought
	}
	return s
}

// enters reports whether the value of a place may be a container.
func (d *Decoder) enters(s slot, array bool) bool {
	switch s {
	case root, sBaseResp, sUsage, sInDetails, sOutDetails, sXGroq, sDelta, sMessage, sFunc, sFuncCall,
		sAudio, sResponse, rDelta, sIncomplete, gTimings, gTimeInfo, gCheckpoint, gSLA, qStreamOptions, qReasoning, qText, qFormat:
		return !array
	case sError, sDetail, sChoice, sRDetail, sTool, cThought, sItem, sItemContent, sItemSummary:
		return true
	case eMessage:
		d.errorText(eMessage, []byte{'{'}) // though it is no text
	case cContent:
		// An array of parts is content; an object in its place is not.
		return array || d.m.top().array
	case qTools, qMessages, qStop, qModalities:
		return array
	}
	return false
}

// open begins an object of a known place.
func (d *Decoder) open(s slot) {
	switch s {
	case sChoice:
		d.openChoice()
	case sDelta:
		d.openOutput(&d.choice.delta)
	case sMessage:
		d.openOutput(&d.choice.message)
	case sTool, sFuncCall:
		d.tool = toolScratch{}
	case sItem:
		d.openItem()
	}
}

// close ends an object of a known place.
func (d *Decoder) close(s slot) {
	switch s {
	case root:
		d.closeError()
	case sError, sDetail:
		d.overError()
	case sChoice:
		d.closeChoice()
	case sTool:
		d.closeTool()
	case sFuncCall:
		d.tool.call.Index, d.tool.call.HasIndex = 0, true
		d.closeTool()
	case sItem:
		d.closeItem()
	case qStreamOptions:
		d.req.StreamOptions = true
	}
}

// closeArray ends an array of n elements.
func (d *Decoder) closeArray(s slot, n int64) {
	switch s {
	case qTools:
		d.req.HasTools = d.req.HasTools || n > 0
	case qMessages:
		d.req.Messages = Count{n, true}
	}
}

// generated takes a complete string of text of a place.
func (d *Decoder) generated(s slot, chars int64, kept []byte) {
	if s == oText {
		d.transcribed(chars, kept)
		return
	}
	if s >= rFirst && s <= rLast {
		d.generatedResponses(s, chars, kept)
		return
	}
	d.generatedChat(s, chars, kept)
}
