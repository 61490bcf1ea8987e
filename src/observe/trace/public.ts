/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export type { TrafficLine, TrafficLineInput } from "./traffic-line-types.ts";
export { decodeTrafficLines, type DecodedTrafficLine } from "./traffic-line-codec.ts";
export { loadTrafficModel } from "./model/load-traffic-model.ts";
export { TrafficModel } from "./model/traffic-model.ts";
export type { TrafficCall } from "./model/traffic-call.ts";
export type { TrafficTask } from "./model/traffic-task.ts";
export { computeTaskCriticalPath } from "./model/critical-path.ts";
export type { ModelPrices } from "./prices/model-prices.ts";
export { renderTaskTimeline, renderTrafficOverview } from "./views/render-record-text.ts";
export { renderTrafficMermaid } from "./views/to-mermaid.ts";
export { toTrafficOtlpTraces } from "./views/to-otlp.ts";
export { toTrafficPerfettoTrace } from "./views/to-perfetto.ts";
export { compareTasks } from "./views/compare-tasks.ts";
