/**
 * HOW CARDS ARE SHOWN, as text and as drawings: pure functions of a row of cards, or of a run. `buildSampleExchanges` is what most
 * are drawn from. What agents wrote is made harmless for where it is shown.
 */
export { type CardBoxOptions } from "./card-boxes.ts";
export { type Delegation, buildDelegationForest, type WorkSpan } from "./delegations.ts";
export {
  type SampleExchange,
  buildSampleExchanges,
  type CardsOrRecording,
  listWorkSpans,
} from "./sample-exchanges.ts";
export { type FlowDiagramOptions, generateFlowDiagram } from "./flow-diagram.ts";
export {
  type RoleGraph,
  type RoleGraphEdge,
  renderRoleGraphMermaid,
  type RoleGraphNode,
  buildRoleGraph,
} from "./role-graph.ts";
export { renderRoleGraphSvg } from "./role-graph-svg.ts";
export { renderSequenceText, type SequenceTextOptions } from "./sequence-text.ts";
export { renderSequenceMermaid } from "./sequence-mermaid.ts";
export { type SequenceSvgOptions, renderSequenceSvg } from "./sequence-svg.ts";
export { renderTimelineText, type TimelineTextOptions } from "./timeline-text.ts";
export { fitToColumns, measureColumns } from "./text-width.ts";
export { visualizeCards, type VisualizeOptions } from "./visualize-cards.ts";
