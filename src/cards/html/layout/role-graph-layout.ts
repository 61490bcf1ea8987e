import { type RoleEdge, listRoles } from "../run-overview.ts";

/** All cards between the same two roles as one line: roles in a row, what goes right above them, what goes left below. */
export interface RoleGraphLayout {
  readonly width: number;
  readonly height: number;
  readonly roles: readonly { readonly name: string; readonly x: number; readonly y: number }[];
  readonly edges: readonly RoleGraphEdgeLayout[];
}

export interface RoleGraphEdgeLayout {
  readonly edge: RoleEdge;
  /** SVG path. */
  readonly path: string;
  /** Where its words stand. */
  readonly x: number;
  readonly y: number;
  /** 1 to 6, by the logarithm of its cards. */
  readonly thickness: number;
}

export const ROLE_BOX_SIZE: { readonly width: number; readonly height: number } = { width: 132, height: 44 };
const ROLE_GAP = 250;
const DIAGRAM_MARGIN = 90;

export function computeRoleGraphLayout(edges: readonly RoleEdge[]): RoleGraphLayout {
  const names = listRoles(edges.map(({ from, to }) => ({ sender: from, recipient: to })));
  const furthest = Math.max(
    1,
    ...edges.map(({ from, to }) => Math.abs(names.indexOf(from) - names.indexOf(to))),
  );
  const middle = 60 + furthest * 46;
  const most = Math.max(1, ...edges.map(({ cardCount: cards }) => cards));
  const xOf = (name: string): number => DIAGRAM_MARGIN + names.indexOf(name) * ROLE_GAP;
  return {
    width: 2 * DIAGRAM_MARGIN + Math.max(0, names.length - 1) * ROLE_GAP,
    height: 2 * middle,
    roles: names.map((name) => ({ name, x: xOf(name), y: middle })),
    edges: edges.map((edge) => {
      const steps = names.indexOf(edge.to) - names.indexOf(edge.from);
      const side = steps < 0 ? 1 : -1;
      const bend = 22 + Math.abs(steps) * 44;
      const [x1, x2] = [xOf(edge.from) - side * 34, xOf(edge.to) + side * 34];
      const [start, top] = [
        middle + (side * ROLE_BOX_SIZE.height) / 2,
        middle + side * (ROLE_BOX_SIZE.height / 2 + bend),
      ];
      return {
        edge,
        path: `M ${x1} ${start} C ${x1} ${top}, ${x2} ${top}, ${x2} ${start}`,
        x: (x1 + x2) / 2,
        // A cubic with both handles at the same height reaches three quarters of it.
        y: start + (top - start) * 0.75,
        thickness: 1 + (5 * Math.log1p(edge.cardCount)) / Math.log1p(most) / 1.4,
      };
    }),
  };
}
