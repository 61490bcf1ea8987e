/**
 * The traffic record: one file format for the requests, streams, events, and model calls of servers, clients, and the
 * tap, and the views that are computed from it.
 */
export * from "./public.ts";
export { SharedTextDecoder } from "./shared-text-decoder.ts";
export { isTruncatedBody } from "./truncated-body.ts";
export {
  describeUnknownCaller,
  type CallerEvidence,
  type IdentifiedCaller,
} from "./model/describe-unknown-caller.ts";
export { priceTrafficLineText } from "./prices/price-traffic-line.ts";
export { findResultTask } from "./find-result-task.ts";
export { getRecordedAgentName } from "./recorded-agent-name.ts";
export { hasKnownTime } from "./has-known-time.ts";
export { escapeMermaidLabel, renderMermaidSequence } from "./views/to-mermaid.ts";
export { countMarks } from "./views/count-marks.ts";
export { listTaskFamily, UNOBSERVED_TASK } from "./views/render-record-text.ts";
export { alignTaskSequences, listTaskSequence, type AlignedMessages } from "./views/align-task-sequences.ts";
export { addModelLineUsage } from "./prices/token-usage.ts";
