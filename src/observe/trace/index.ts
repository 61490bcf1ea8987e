/**
 * The traffic record: one file format for the requests, streams, events, and model calls of servers, clients, and the
 * tap, and the views that are computed from it.
 */
export * from "./public.ts";
export type * from "./traffic-line-types.ts";
export {
  decodeTrafficLine,
  decodeTrafficLineJson,
  encodeTrafficLine,
  type RawTrafficMembers,
  hasKnownTime,
} from "./traffic-line-codec.ts";
export type { LoadedTraffic } from "./model/load-traffic-model.ts";
export type { ReaderPosition, TimelineEntry, TimelineMark } from "./model/timeline-types.ts";
export type { TokenUsage } from "./prices/token-usage.ts";
export type { TrafficAgent } from "./model/traffic-model.ts";
export { findEarlyEnd, type TrafficExchange } from "./model/traffic-exchange.ts";
export type { CriticalPathStep } from "./model/critical-path.ts";
export type { TaskComparison, TaskSummary } from "./views/compare-tasks.ts";
export { computeClockShifts } from "./model/clock-shifts.ts";
export { isEntryOfKind } from "./model/traffic-call.ts";
export {
  getTaskDuration,
  getTaskPeriod,
  listTaskActivities,
  type TaskActivity,
} from "./model/task-activities.ts";
export { summarizeCriticalPath, type CriticalPathShare } from "./model/critical-path.ts";
export { decodeModelPrices } from "./prices/model-prices.ts";
export { priceTrafficLine, priceTrafficLineText } from "./prices/price-traffic-line.ts";
export { addModelLineUsage, addUsage, formatPrice, formatTokens, NO_USAGE } from "./prices/token-usage.ts";
export {
  buildTrafficGraph,
  type TrafficGraph,
  type TrafficGraphEdge,
  type TrafficGraphNode,
} from "./model/agent-graph.ts";
export {
  buildTrafficSequence,
  formatState,
  type SequenceItem,
  type TrafficSequence,
} from "./model/traffic-sequence.ts";
export { TaskFamilyFilter } from "./model/task-family-filter.ts";
export { findRequestIds, type RequestIds, findResultTask } from "./find-request-ids.ts";
export { describeMark, describeTrafficLine, formatDuration } from "./views/describe-line.ts";
export {
  computeTotalUsage,
  listChildTasks,
  listTaskFamily,
  UNOBSERVED_TASK,
} from "./views/render-record-text.ts";
export { reconstructTask } from "./views/reconstruct-task.ts";
export {
  summarizeTask,
  alignTaskSequences,
  listTaskSequence,
  type AlignedMessages,
} from "./views/compare-tasks.ts";
export { SharedTextDecoder } from "./shared-text-decoder.ts";
export { isTruncatedBody } from "./truncated-body.ts";
export {
  CONSOLE_CALLER,
  CONSOLE_USER_AGENT,
  type CallerEvidence,
  type IdentifiedCaller,
} from "./model/describe-unknown-caller.ts";
export { getRecordedAgentName } from "./recorded-agent-name.ts";
export { escapeMermaidLabel, renderMermaidSequence } from "./views/to-mermaid.ts";
export { countMarks } from "./views/count-marks.ts";
