import { type CardGraph, edgeNote, type GraphEdge, type GraphNode, nodeNote } from "./graph.ts";
import { svgDocument, svgText } from "./svg-text.ts";

const BOX = 150;
const TALL = 48;
/** Between two boxes side by side; a note about an edge has to have room above it. */
const BETWEEN = 210;
const LOWEST = 46;
const EACH = 56;
const MARGIN = 24;

/**
 * The graph in SVG: roles in a row, in the order in which they appear, and what they sent each other in arcs: above the
 * row what goes to the right, below it what comes back. The same graph is always the same drawing.
 */
export function graphSvgOf(
  graph: CardGraph,
  { title = "Who spoke with whom" }: { readonly title?: string } = {},
): string {
  const order = new Map(graph.nodes.map(({ role }, at) => [role, at]));
  const spans = graph.edges.map(({ from, to }) => (order.get(to) ?? 0) - (order.get(from) ?? 0));
  const above = Math.max(20, ...spans.filter((span) => span >= 0).map(arc)) + 24;
  const below = Math.max(20, ...spans.filter((span) => span < 0).map(arc)) + 24;
  const width = MARGIN * 2 + graph.nodes.length * BOX + Math.max(0, graph.nodes.length - 1) * BETWEEN;
  const left = (role: string): number => MARGIN + (order.get(role) ?? 0) * (BOX + BETWEEN);

  const draw = (edge: GraphEdge, at: number): string => {
    const span = spans[at] ?? 0;
    const sign = span < 0 ? -1 : 1;
    const edgeOfBox = span < 0 ? above + TALL : above;
    // Leaves a box right of its middle when it goes to the right, and comes in left of it: arcs do not cross so.
    const from = left(edge.from) + BOX / 2 + (span === 0 ? -24 : sign * 36);
    const to = left(edge.to) + BOX / 2 + (span === 0 ? 24 : -sign * 36);
    const top = edgeOfBox - sign * arc(span);
    const weight = Math.min(6, 1.5 + Math.log10(edge.cards));
    return [
      `<g class="other"><title>${svgText(describe(edge))}</title>`,
      `<path class="arrow" style="stroke-width:${weight.toFixed(1)}" d="M${from} ${edgeOfBox}C${from} ${top} ${to} ${top} ${to} ${edgeOfBox - sign * 9}"/>`,
      `<path class="head" d="M${to} ${edgeOfBox}l-5 ${-sign * 10}h10z"/>`,
      `<text x="${(from + to) / 2}" y="${edgeOfBox - sign * arc(span) * 0.75 + (sign > 0 ? -6 : 16)}" text-anchor="middle">${svgText(edgeNote(edge), BOX + BETWEEN + 16)}</text></g>`,
    ].join("");
  };

  return svgDocument({
    width,
    height: above + TALL + below,
    title,
    description: [
      ...graph.nodes.map((node) => `${node.role}: ${nodeNote(node)}`),
      ...graph.edges.map(describe),
    ],
    body: [...graph.edges.map(draw), ...graph.nodes.map((node) => box(node, left(node.role), above))],
  });
}

/** How far an arc over so many boxes is from the row. */
function arc(span: number): number {
  return span === 0 ? 24 : LOWEST + (Math.abs(span) - 1) * EACH;
}

function describe(edge: GraphEdge): string {
  return `${edge.from} to ${edge.to}: ${edgeNote(edge)}`;
}

function box(node: GraphNode, x: number, y: number): string {
  const middle = x + BOX / 2;
  const name = svgText(node.role, BOX - 16);
  const note = nodeNote(node);
  return [
    `<g><title>${svgText(`${node.role}: ${note}`)}</title>`,
    `<rect class="box" x="${x}" y="${y}" width="${BOX}" height="${TALL}" rx="8"/>`,
    `<text class="role" x="${middle}" y="${y + 20}" text-anchor="middle">${name}</text>`,
    `<text class="dim" x="${middle}" y="${y + 37}" text-anchor="middle">${svgText(note, BOX - 12)}</text></g>`,
  ].join("");
}
