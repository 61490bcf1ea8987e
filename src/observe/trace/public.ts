/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export type { TrafficLine, TrafficLineInput } from "./traffic-line-types.ts";
export { decodeTrafficLines, type DecodedTrafficLine } from "./traffic-line-codec.ts";
export { loadTrafficModel, type LoadedTraffic } from "./model/load-traffic-model.ts";
export {
  TrafficModel,
  type TrafficAgent,
  type TrafficModelOptions,
  type TrafficWriterInfo,
} from "./model/traffic-model.ts";
export type { TrafficCall } from "./model/traffic-call.ts";
export type { TrafficExchange } from "./model/traffic-exchange.ts";
export type { TaskStateChange, TrafficTask } from "./model/traffic-task.ts";
export type {
  MarkedTimelineEntry,
  ReaderPosition,
  TimelineEntry,
  TimelineMark,
} from "./model/timeline-types.ts";
export { computeTaskCriticalPath, type CriticalPathStep } from "./model/critical-path.ts";
export type { ModelPrice, ModelPrices } from "./prices/model-prices.ts";
export type { TokenUsage } from "./prices/token-usage.ts";
export { renderTaskTimeline, renderTrafficOverview } from "./views/render-record-text.ts";
export { renderTrafficMermaid } from "./views/to-mermaid.ts";
export { toTrafficOtlpTraces } from "./views/to-otlp.ts";
export { toTrafficPerfettoTrace } from "./views/to-perfetto.ts";
export { compareTasks, type TaskComparison, type TaskSummary } from "./views/compare-tasks.ts";
