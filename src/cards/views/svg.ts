import type { Card } from "../card/index.ts";
import { answersOf } from "./answers.ts";
import { allOf, exchangesOf } from "./exchanges.ts";
import { classOf, pixelsOf, svgDocument, svgText } from "./svg-text.ts";
import { oneLine } from "./text-width.ts";
import { timeBetween } from "./time-between.ts";

export interface SvgOptions {
  /** What is drawn, for those who do not see it, and as a tooltip. Default `Cards between …`. */
  readonly title?: string;
}

const GAP = 290;
const TIMES = 76;
const HEAD = 52;
const ROW = 38;
/** Of a tooltip and of a line for those who hear the drawing, in pixels of text. */
const LONGEST = 2_000;
/** Nobody listens to more. */
const MOST_TOLD = 100;

/**
 * The cards as a sequence diagram in SVG, for a README or a page: one file, light or dark as the reader's system is. A
 * bar on a role's line says that it had a task; the full content of a card is its tooltip.
 */
export function svgOf(cards: readonly Card[], options: SvgOptions = {}): string {
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  const at = new Map(roles.map((role, index) => [role, TIMES + 80 + index * GAP]));
  const place = (role: string): number => at.get(role) ?? 0;
  const width = TIMES + 160 + Math.max(0, roles.length - 1) * GAP + (cards.some(isToItself) ? GAP / 2 : 0);
  const height = y(cards.length) - 8;
  const answers = answersOf(cards);
  const title = options.title ?? `Cards between ${roles.map(oneLine).join(", ")}`;

  return svgDocument({
    width,
    height,
    title,
    description: cards
      .slice(0, MOST_TOLD)
      .map((card, index) => `${index + 1}. ${told(card).slice(0, LONGEST)}`),
    body: [
      ...roles.map(
        (role) =>
          `<line class="life" x1="${place(role)}" y1="${HEAD}" x2="${place(role)}" y2="${height - 12}"/>`,
      ),
      ...busy(cards).map(
        ({ role, from, to, depth }) =>
          `<rect class="busy" x="${place(role) - 4 + depth * 5}" y="${y(from)}" width="8" height="${y(to) - y(from)}" rx="2"/>`,
      ),
      ...roles.map((role) => roleBox(role, place(role))),
      ...cards.map((card, index) => arrowOf(card, index, cards[index - 1], answers.get(card), place)),
    ],
  });
}

/** Where the arrow of a card is. */
function y(index: number): number {
  return HEAD + 34 + index * ROW;
}

function isToItself({ sender, recipient }: Card): boolean {
  return sender === recipient;
}

function told({ sender, recipient, message_type, content }: Card): string {
  return `${sender} to ${recipient}, ${message_type}: ${content}`;
}

function roleBox(role: string, x: number): string {
  const name = svgText(role, 140);
  const wide = Math.min(150, pixelsOf(oneLine(role)) + 28);
  return `<rect class="box" x="${x - wide / 2}" y="14" width="${wide}" height="28" rx="6"/><text class="role" x="${x}" y="32" text-anchor="middle">${name}</text>`;
}

function arrowOf(
  card: Card,
  index: number,
  before: Card | undefined,
  answers: number | undefined,
  place: (role: string) => number,
): string {
  const from = place(card.sender);
  const to = place(card.recipient);
  const tokens = card.metadata.tokens === undefined ? "" : ` (${card.metadata.tokens} tok)`;
  const room = Math.max(Math.abs(to - from), GAP / 2) - 24 - pixelsOf(tokens);
  const about = `${index + 1} ${card.message_type}${answers === undefined ? "" : ` to ${answers}`}`;
  const label = `<tspan class="type">${svgText(about, room)}</tspan> ${svgText(card.content.slice(0, 500), room - pixelsOf(about))}`;
  const line = y(index);
  const direction = Math.sign(to - from);
  const [path, tip] =
    direction === 0
      ? [`M${from + 4} ${line - 8}h34v10h-26`, `M${from + 6} ${line + 2}l9 -4v8z`]
      : [
          `M${from + direction * 4} ${line}H${to - direction * 12}`,
          `M${to - direction * 5} ${line}l${-direction * 9} -4v8z`,
        ];
  const anchor =
    direction === 0
      ? `x="${from + 44}" y="${line}"`
      : `x="${(from + to) / 2}" y="${line - 6}" text-anchor="middle"`;
  return [
    `<g class="${classOf(card.message_type)}"><title>${svgText(told(card), LONGEST)}</title>`,
    `<path class="arrow" d="${path}"/><path class="head" d="${tip}"/>`,
    `<text ${anchor}>${label}<tspan class="dim">${tokens}</tspan></text>`,
    `<text class="dim" x="12" y="${line + 4}">${timeBetween(before, card)}</text></g>`,
  ].join("");
}

interface Busy {
  readonly role: string;
  /** Rows. */
  readonly from: number;
  readonly to: number;
  /** How many others the role had at the same time, that began before. */
  readonly depth: number;
}

/** When each role had a task, from its arrival to its reply; to the end where there was none. */
function busy(cards: readonly Card[]): Busy[] {
  const rows = new Map(cards.map((card, row) => [card, row]));
  const rowOf = (card: Card | undefined): number => (card && rows.get(card)) ?? cards.length - 1;
  const tasks = exchangesOf(cards)
    .flatMap(({ roots }) => allOf(roots))
    .map(({ task, reply }) => ({ role: task.recipient, from: rowOf(task), to: rowOf(reply) }))
    .filter(({ from, to }) => to > from)
    .toSorted((a, b) => a.from - b.from);
  return tasks.map((one, index) => ({
    ...one,
    depth: tasks.slice(0, index).filter(({ role, to }) => role === one.role && to > one.from).length,
  }));
}
