import {
  type RoleGraph,
  formatRoleEdgeLabel,
  type RoleGraphEdge,
  type RoleGraphNode,
  formatRoleNodeLabel,
} from "./role-graph.ts";
import { renderSvgDocument, renderSvgText } from "./svg-document.ts";

const ROLE_BOX_WIDTH_PX = 150;
const ROLE_BOX_HEIGHT_PX = 48;
/** Horizontal gap in pixels between two role boxes, wide enough for an edge label. */
const ROLE_BOX_GAP_PX = 210;
const MIN_ARC_HEIGHT = 46;
const ARC_HEIGHT_STEP = 56;
const DIAGRAM_MARGIN = 24;

/**
 * Renders a role graph as an SVG document.
 * Roles form a row in the order of their first message card. Edges to the right are arcs above the row of
 * roles, and edges to the left are arcs below the row of roles. The same role graph always produces the same
 * SVG document.
 */
export function renderRoleGraphSvg(
  graph: RoleGraph,
  { title = "Cards between roles" }: { readonly title?: string } = {},
): string {
  const order = new Map(graph.nodes.map(({ role }, at) => [role, at]));
  const spans = graph.edges.map(({ from, to }) => (order.get(to) ?? 0) - (order.get(from) ?? 0));
  const above = Math.max(20, ...spans.filter((span) => span >= 0).map(computeArcHeight)) + 24;
  const below = Math.max(20, ...spans.filter((span) => span < 0).map(computeArcHeight)) + 24;
  const width =
    DIAGRAM_MARGIN * 2 +
    graph.nodes.length * ROLE_BOX_WIDTH_PX +
    Math.max(0, graph.nodes.length - 1) * ROLE_BOX_GAP_PX;
  const left = (role: string): number =>
    DIAGRAM_MARGIN + (order.get(role) ?? 0) * (ROLE_BOX_WIDTH_PX + ROLE_BOX_GAP_PX);

  const draw = (edge: RoleGraphEdge, at: number): string => {
    const span = spans[at] ?? 0;
    const sign = span < 0 ? -1 : 1;
    const edgeOfBox = span < 0 ? above + ROLE_BOX_HEIGHT_PX : above;
    // An edge to the right leaves a box to the right of its center and enters to the left of it, so that arcs
    // do not cross.
    const from = left(edge.from) + ROLE_BOX_WIDTH_PX / 2 + (span === 0 ? -24 : sign * 36);
    const to = left(edge.to) + ROLE_BOX_WIDTH_PX / 2 + (span === 0 ? 24 : -sign * 36);
    const top = edgeOfBox - sign * computeArcHeight(span);
    const weight = Math.min(6, 1.5 + Math.log10(edge.cards));
    return [
      `<g class="other"><title>${renderSvgText(describeRoleGraphEdge(edge))}</title>`,
      `<path class="arrow" style="stroke-width:${weight.toFixed(1)}" d="M${from} ${edgeOfBox}C${from} ${top} ${to} ${top} ${to} ${edgeOfBox - sign * 9}"/>`,
      `<path class="head" d="M${to} ${edgeOfBox}l-5 ${-sign * 10}h10z"/>`,
      `<text x="${(from + to) / 2}" y="${edgeOfBox - sign * computeArcHeight(span) * 0.75 + (sign > 0 ? -6 : 16)}" text-anchor="middle">${renderSvgText(formatRoleEdgeLabel(edge), ROLE_BOX_WIDTH_PX + ROLE_BOX_GAP_PX + 16)}</text></g>`,
    ].join("");
  };

  return renderSvgDocument({
    width,
    height: above + ROLE_BOX_HEIGHT_PX + below,
    title,
    description: [
      ...graph.nodes.map((node) => `${node.role}: ${formatRoleNodeLabel(node)}`),
      ...graph.edges.map(describeRoleGraphEdge),
    ],
    body: [
      ...graph.edges.map(draw),
      ...graph.nodes.map((node) => renderRoleBox(node, left(node.role), above)),
    ],
  });
}

/** Returns the height in pixels of an arc that spans the given number of role boxes. */
function computeArcHeight(span: number): number {
  return span === 0 ? 24 : MIN_ARC_HEIGHT + (Math.abs(span) - 1) * ARC_HEIGHT_STEP;
}

function describeRoleGraphEdge(edge: RoleGraphEdge): string {
  return `${edge.from} to ${edge.to}: ${formatRoleEdgeLabel(edge)}`;
}

function renderRoleBox(node: RoleGraphNode, x: number, y: number): string {
  const middle = x + ROLE_BOX_WIDTH_PX / 2;
  const name = renderSvgText(node.role, ROLE_BOX_WIDTH_PX - 16);
  const note = formatRoleNodeLabel(node);
  return [
    `<g><title>${renderSvgText(`${node.role}: ${note}`)}</title>`,
    `<rect class="box" x="${x}" y="${y}" width="${ROLE_BOX_WIDTH_PX}" height="${ROLE_BOX_HEIGHT_PX}" rx="8"/>`,
    `<text class="role" x="${middle}" y="${y + 20}" text-anchor="middle">${name}</text>`,
    `<text class="dim" x="${middle}" y="${y + 37}" text-anchor="middle">${renderSvgText(note, ROLE_BOX_WIDTH_PX - 12)}</text></g>`,
  ].join("");
}
