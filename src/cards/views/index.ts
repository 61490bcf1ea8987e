/**
 * Text views and SVG drawings of message cards.
 * All views are pure functions that accept a list of message cards or a recording. Most views are based on
 * `buildSampleDelegationForests`. The views escape text from agents for each output format.
 */

export { buildDelegatedTaskForest, type Delegation, type WorkSpan } from "./delegated-task-forest.ts";
export { getCardTypeClass } from "./card-type-class.ts";
export {
  type SampleDelegationForest,
  buildSampleDelegationForests,
  type CardsOrRecording,
  flattenDelegations,
  listCardsInDelegation,
  listWorkSpans,
} from "./sample-delegation-forests.ts";
export { type FlowDiagramOptions, generateFlowDiagram } from "./flow-diagram.ts";
export { renderRoleGraphMermaid, buildRoleGraph } from "./role-graph.ts";
export { renderRoleGraphSvg } from "./role-graph-svg.ts";
export { renderSequenceText, type SequenceTextOptions } from "./sequence-text.ts";
export { renderSequenceMermaid } from "./sequence-mermaid.ts";
export { type SequenceSvgOptions, renderSequenceSvg } from "./sequence-svg.ts";
export { renderTimelineText, type TimelineTextOptions } from "./timeline-text.ts";
export {
  escapeControlCharacters,
  fitToColumns,
  measureColumns,
  toSingleLine,
  truncateLine,
} from "./text-width.ts";
export { visualizeCards, type VisualizeOptions } from "./visualize-cards.ts";
