import type { Card } from "../card/index.ts";
import { answersOf } from "./answers.ts";
import { timeBetween } from "./time-between.ts";
import { cut, fit, oneLine, widthOf } from "./text-width.ts";

export interface LanesOptions {
  /** Columns of the drawing. Default 100; with many roles it is wider, at least 16 for each. */
  readonly width?: number;
}

/** Of the column of times, with the room before it. */
const TIMES = 13;
/** From one role's line to the next. */
const NARROWEST = 16;
const WIDEST = 40;
const LONGEST_NAME = 16;

/**
 * The cards as arrows between the lines of the roles, each pointing where the card goes: tasks drawn through, replies
 * dashed. At the right is the time that has passed since the card before.
 */
export function lanesOf(cards: readonly Card[], { width = 100 }: LanesOptions = {}): string {
  const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
  const names = roles.map((role) => cut(oneLine(role).toUpperCase(), LONGEST_NAME));
  const left = Math.ceil(widthOf(names.at(0) ?? "") / 2);
  const right = Math.floor(widthOf(names.at(-1) ?? "") / 2);
  // A role that talks to itself does so beside its line, also when it is the last.
  const hasSelf = cards.some(({ sender, recipient }) => sender === recipient);
  const gaps = Math.max(1, roles.length - (hasSelf ? 0 : 1));
  const room = Math.floor((width - left - right - TIMES) / gaps);
  const gap = Math.min(WIDEST, Math.max(NARROWEST, room));
  const places = roles.map((_, at) => left + at * gap);
  const end = (places.at(-1) ?? 0) + (hasSelf ? gap : right + 1);
  const answers = answersOf(cards);

  const rows = cards.map((card, at) => {
    const from = roles.indexOf(card.sender);
    const to = roles.indexOf(card.recipient);
    const line = new Line(end, places);
    const start = places[Math.min(from, to)] ?? 0;
    const columns = from === to ? gap - 1 : Math.abs(from - to) * gap - 1;
    const label = `${at + 1} ${labelOf(card, columns, answers.get(card))}`;
    line.put(start + 1, arrow(card, label, columns, to - from));
    return `${line.text()}   ${timeBetween(cards[at - 1], card)}`;
  });
  const header = new Line(end, []);
  for (const [at, name] of names.entries()) {
    const shown = cut(name, gap - 1);
    header.put((places[at] ?? 0) - Math.floor(widthOf(shown) / 2), shown);
  }
  return [header.text(), ...rows].map((line) => line.trimEnd()).join("\n");
}

/** A line of the drawing: the roles' lines, and what is put over them from left to right. */
class Line {
  readonly #end: number;
  readonly #places: readonly number[];
  #text = "";
  #at = 0;

  constructor(end: number, places: readonly number[]) {
    this.#end = end;
    this.#places = places;
  }

  put(at: number, text: string): void {
    this.#fillUpTo(at);
    this.#text += text;
    this.#at += widthOf(text);
  }

  text(): string {
    this.#fillUpTo(this.#end);
    return this.#text;
  }

  #fillUpTo(end: number): void {
    for (; this.#at < end; this.#at++) this.#text += this.#places.includes(this.#at) ? "│" : " ";
  }
}

/** An arrow of so many columns with its label in it; towards nobody else when `direction` is 0. */
function arrow(card: Card, label: string, columns: number, direction: number): string {
  const isReply = card.message_type === "result" || card.message_type === "error";
  const dash = isReply ? "╌" : "─";
  if (direction === 0) return fit(`↺ ${label}`, columns);
  // Two dashes before it, one behind, and the head.
  const shown = cut(label, columns - 6);
  const rest = dash.repeat(columns - 5 - widthOf(shown));
  return direction > 0 ? `${dash}${dash} ${shown} ${rest}▶` : `◀${rest} ${shown} ${dash}${dash}`;
}

/** What it is, and as much of what it says as there is room for, if that is worth it. */
function labelOf({ message_type, content }: Card, columns: number, answers: number | undefined): string {
  const type = `${oneLine(message_type)}${answers === undefined ? "" : ` to ${answers}`}`;
  return columns < widthOf(type) + 14 ? type : `${type} "${oneLine(content.slice(0, 500))}"`;
}
