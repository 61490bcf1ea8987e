/**
 * The traffic record: one file format for the requests, streams, events, and model calls of servers, clients, and the
 * tap, and the views that are computed from it.
 */
export type {
  AgentLine,
  EventLine,
  FaultLine,
  FrameLine,
  LossLine,
  ModelLine,
  PushLine,
  RequestLine,
  ResponseLine,
  SpanLine,
  StreamEndLine,
  ToolLine,
  TrafficIds,
  TrafficLine,
  TrafficLineBase,
  TrafficLineInput,
  TurnLine,
  WriterLine,
} from "./traffic-line-types.ts";
export {
  decodeTrafficLine,
  decodeTrafficLineJson,
  decodeTrafficLines,
  type DecodedTrafficLine,
} from "./decode-traffic-line.ts";
export { encodeTrafficLine, type RawTrafficMembers } from "./encode-traffic-line.ts";
