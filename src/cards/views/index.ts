/**
 * HOW CARDS ARE SHOWN, as text and as drawings: pure functions of a row of cards, or of a run. `exchangesOf` is what most
 * are drawn from. What agents wrote is made harmless for where it is shown.
 */
export { type BoxOptions } from "./boxes.ts";
export { type Delegation, delegationsOf, type Span } from "./delegations.ts";
export { type Exchange, exchangesOf, type Shown, spansOf } from "./exchanges.ts";
export { type FlowOptions, generateFlowDiagram } from "./flow.ts";
export { type CardGraph, type GraphEdge, graphMermaidOf, type GraphNode, graphOf } from "./graph.ts";
export { graphSvgOf } from "./graph-svg.ts";
export { lanesOf, type LanesOptions } from "./lanes.ts";
export { mermaidOf } from "./mermaid.ts";
export { type SvgOptions, svgOf } from "./svg.ts";
export { timelineOf, type TimelineOptions } from "./timeline.ts";
export { fit, widthOf } from "./text-width.ts";
export { visualizeCards, type VisualizeOptions } from "./visualize-cards.ts";
