import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import { mapConcurrentRepliesToTaskNumbers } from "./concurrent-reply-task-numbers.ts";
import { flattenDelegations, buildSampleDelegationForests } from "./sample-delegation-forests.ts";
import { getCardTypeClass } from "./card-type-class.ts";
import { measurePixels, renderSvgDocument, renderSvgText } from "./svg-document.ts";
import { toSingleLine } from "./text-width.ts";
import { formatTimeSincePreviousCard } from "./time-since-previous-card.ts";

/** Options of `renderSequenceSvg`. */
export interface SequenceSvgOptions {
  /** Title of the SVG drawing for screen readers and tooltips. Default: `Cards between …`. */
  readonly title?: string;
}

const assertKnownOptions = defineOptionNames<SequenceSvgOptions>()("renderSequenceSvg", "title");

const LIFELINE_DISTANCE_PX = 290;
const TIME_WIDTH = 76;
const HEADER_HEIGHT = 52;
const ROW_HEIGHT = 38;
/** Maximum tooltip width in pixels, which is also the maximum length of a description line in characters. */
const MAX_TOOLTIP_LENGTH = 2_000;
/** Maximum number of message cards in the description for screen readers. */
const MAX_CARDS_IN_SVG_DESCRIPTION = 100;

/**
 * Renders message cards as an SVG sequence diagram for a README or a web page. The diagram is one
 * self-contained SVG document and follows the light or dark mode of the system. A bar on the lifeline of a role
 * marks a pending task. The tooltip of a message card contains the entire content of the card.
 */
export function renderSequenceSvg(cards: readonly MessageCard[], options: SequenceSvgOptions = {}): string {
  assertKnownOptions(options);
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  const laneX = new Map(roles.map((role, index) => [role, TIME_WIDTH + 80 + index * LIFELINE_DISTANCE_PX]));
  const place = (role: string): number => laneX.get(role) ?? 0;
  const width =
    TIME_WIDTH +
    160 +
    Math.max(0, roles.length - 1) * LIFELINE_DISTANCE_PX +
    (cards.some(isSelfAddressed) ? LIFELINE_DISTANCE_PX / 2 : 0);
  const height = computeRowY(cards.length) - 8;
  const answers = mapConcurrentRepliesToTaskNumbers(cards);
  const title = options.title ?? `Cards between ${roles.map(toSingleLine).join(", ")}`;

  return renderSvgDocument({
    width,
    height,
    title,
    description: cards
      .slice(0, MAX_CARDS_IN_SVG_DESCRIPTION)
      .map((card, index) => `${index + 1}. ${describeCard(card).slice(0, MAX_TOOLTIP_LENGTH)}`),
    body: [
      ...roles.map(
        (role) =>
          `<line class="life" x1="${place(role)}" y1="${HEADER_HEIGHT}" x2="${place(role)}" y2="${height - 12}"/>`,
      ),
      ...computePendingTaskRowSpans(cards).map(
        ({ role, fromRow, toRow, depth }) =>
          `<rect class="busy" x="${place(role) - 4 + depth * 5}" y="${computeRowY(fromRow)}" width="8" height="${computeRowY(toRow) - computeRowY(fromRow)}" rx="2"/>`,
      ),
      ...roles.map((role) => renderRoleBox(role, place(role))),
      ...cards.map((card, index) =>
        renderSvgCardArrow(card, index, cards[index - 1], answers.get(card), place),
      ),
    ],
  });
}

/** Returns the vertical position of a message card's arrow. */
function computeRowY(index: number): number {
  return HEADER_HEIGHT + 34 + index * ROW_HEIGHT;
}

function isSelfAddressed({ sender, recipient }: MessageCard): boolean {
  return sender === recipient;
}

function describeCard({ sender, recipient, message_type, content }: MessageCard): string {
  return `${sender} to ${recipient}, ${message_type}: ${content}`;
}

function renderRoleBox(role: string, x: number): string {
  const name = renderSvgText(role, 140);
  const wide = Math.min(150, measurePixels(toSingleLine(role)) + 28);
  return `<rect class="box" x="${x - wide / 2}" y="14" width="${wide}" height="28" rx="6"/><text class="role" x="${x}" y="32" text-anchor="middle">${name}</text>`;
}

function renderSvgCardArrow(
  card: MessageCard,
  index: number,
  previous: MessageCard | undefined,
  answers: number | undefined,
  place: (role: string) => number,
): string {
  const from = place(card.sender);
  const to = place(card.recipient);
  const tokens = card.metadata.tokens === undefined ? "" : ` (${card.metadata.tokens} tok)`;
  const room = Math.max(Math.abs(to - from), LIFELINE_DISTANCE_PX / 2) - 24 - measurePixels(tokens);
  const heading = `${index + 1} ${card.message_type}${answers === undefined ? "" : ` to ${answers}`}`;
  const label = `<tspan class="type">${renderSvgText(heading, room)}</tspan> ${renderSvgText(card.content.slice(0, 500), room - measurePixels(heading))}`;
  const line = computeRowY(index);
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
    `<g class="${getCardTypeClass(card.message_type)}"><title>${renderSvgText(describeCard(card), MAX_TOOLTIP_LENGTH)}</title>`,
    `<path class="arrow" d="${path}"/><path class="head" d="${tip}"/>`,
    `<text ${anchor}>${label}<tspan class="dim">${tokens}</tspan></text>`,
    `<text class="dim" x="12" y="${line + 4}">${formatTimeSincePreviousCard(previous, card)}</text></g>`,
  ].join("");
}

interface PendingTaskRowSpan {
  readonly role: string;
  /** Row of the task card in the diagram. */
  readonly fromRow: number;
  /** Row of the reply in the diagram, or the last row if the task has no reply. */
  readonly toRow: number;
  /** Number of tasks that were already pending for the role. */
  readonly depth: number;
}

/**
 * Returns the periods when roles had pending tasks. The period of a task without a reply ends with the last
 * message card.
 */
function computePendingTaskRowSpans(cards: readonly MessageCard[]): PendingTaskRowSpan[] {
  const rows = new Map(cards.map((card, row) => [card, row]));
  const getRow = (card: MessageCard | undefined): number => (card && rows.get(card)) ?? cards.length - 1;
  const tasks = buildSampleDelegationForests(cards)
    .flatMap(({ roots }) => flattenDelegations(roots))
    .map(({ task, reply }) => ({ role: task.recipient, fromRow: getRow(task), toRow: getRow(reply) }))
    .filter(({ fromRow, toRow }) => toRow > fromRow)
    .toSorted((a, b) => a.fromRow - b.fromRow);
  return tasks.map((one, index) => ({
    ...one,
    depth: tasks.slice(0, index).filter(({ role, toRow }) => role === one.role && toRow > one.fromRow).length,
  }));
}
