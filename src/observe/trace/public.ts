/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export type {
  AgentLine,
  AnswerSourceKind,
  CardLine,
  EventLine,
  FaultLine,
  FrameLine,
  LossLine,
  ModelLine,
  PushLine,
  RequestLine,
  ResponseLine,
  RunEndLine,
  RunIds,
  RunLine,
  ScoreLine,
  SkipLine,
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
export { loadTrafficModel, type LoadedTraffic } from "./model/load-traffic-model.ts";
export {
  TrafficModel,
  type TrafficAgent,
  type TrafficModelOptions,
  type TrafficWriterInfo,
} from "./model/traffic-model.ts";
export { computeClockShifts } from "./model/clock-shifts.ts";
export { isEntryOfKind, type TrafficCall } from "./model/traffic-call.ts";
export type { TrafficExchange } from "./model/traffic-exchange.ts";
export type { TaskStateChange, TrafficTask } from "./model/traffic-task.ts";
export type {
  MarkedTimelineEntry,
  ReaderPosition,
  TimelineEntry,
  TimelineMark,
} from "./model/timeline-types.ts";
export { getTaskPeriod, listTaskActivities, type TaskActivity } from "./model/task-activities.ts";
export {
  computeTaskCriticalPath,
  summarizeCriticalPath,
  type CriticalPathShare,
  type CriticalPathStep,
} from "./model/critical-path.ts";
export { decodeModelPrices, type ModelPrice, type ModelPrices } from "./prices/model-prices.ts";
export { priceTrafficLine } from "./prices/price-traffic-line.ts";
export { addUsage, formatPrice, NO_USAGE, type TokenUsage } from "./prices/token-usage.ts";
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
export { findRequestIds, type RequestIds } from "./find-request-ids.ts";
export { describeMark, describeTrafficLine, formatDuration } from "./views/describe-line.ts";
export {
  computeTotalUsage,
  listChildTasks,
  renderTaskTimeline,
  renderTrafficOverview,
} from "./views/render-record-text.ts";
export { renderTrafficMermaid } from "./views/to-mermaid.ts";
export { toTrafficOtlpTraces } from "./views/to-otlp.ts";
export { toTrafficPerfettoTrace } from "./views/to-perfetto.ts";
export { reconstructTask } from "./views/reconstruct-task.ts";
export { compareTasks, summarizeTask, type TaskComparison, type TaskSummary } from "./views/compare-tasks.ts";
