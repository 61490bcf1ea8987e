import type { PageSample, SeenCard } from "../run-model.ts";
import { statusOf, tokensOf } from "../summary.ts";
import { oneLine } from "../../views/text-width.ts";
import { html, said } from "./dom.ts";
import { Rows } from "./rows.ts";
import { kindOf } from "./sequence-view.ts";
import { count, duration } from "./words.ts";

/** A row of the table. */
export interface TableRow {
  readonly sample: PageSample;
  readonly seen: SeenCard;
  /** Counts the problem's cards, from 1. */
  readonly number: number;
}

const COLUMNS = ["problem", "#", "type", "from", "to", "content", "status", "tokens", "time"] as const;

/** The table of the cards, of one problem or of all. */
export function tableView(
  rows: readonly TableRow[],
  chosen: SeenCard | undefined,
  choose: (row: TableRow) => void,
): HTMLElement {
  const body = html("div", { class: "table-body", role: "rowgroup", tabindex: 0, "aria-label": "Cards" });
  const table = html(
    "div",
    { class: "table", role: "table", "aria-label": "Cards", "aria-rowcount": rows.length + 1 },
    html(
      "div",
      { role: "rowgroup" },
      html(
        "div",
        { class: "table-row table-head", role: "row" },
        ...COLUMNS.map((name) =>
          html("span", { role: "columnheader", class: `c-${name === "#" ? "number" : name}` }, name),
        ),
      ),
    ),
    body,
  );
  const at = rows.findIndex(({ seen }) => seen === chosen);
  let active = Math.max(0, at);
  const list = new Rows<TableRow>(
    body,
    32,
    (row, place) => rowOf(row, place, { isChosen: row.seen === chosen, isActive: place === active }, choose),
    ({ sample, number }, place) => `${sample.id}/${number}/${place === active}`,
  );
  const goTo = (place: number): void => {
    active = Math.min(rows.length - 1, Math.max(0, place));
    list.reveal(active);
    body.setAttribute("aria-activedescendant", list.drawn(active)?.id ?? "");
  };
  body.addEventListener("keydown", (event) => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: list.page,
      PageUp: -list.page,
      Home: Number.NEGATIVE_INFINITY,
      End: Number.POSITIVE_INFINITY,
    };
    const [step, row] = [steps[event.key], rows[active]];
    if (step !== undefined) goTo(active + step);
    else if (event.key === "Enter" && row) choose(row);
    else return;
    event.preventDefault();
  });
  list.items = rows;
  // Not before the table has a height.
  if (at >= 0) requestAnimationFrame(() => goTo(at));
  return table;
}

function rowOf(
  { sample, seen, number }: TableRow,
  at: number,
  { isChosen, isActive }: { readonly isChosen: boolean; readonly isActive: boolean },
  choose: (row: TableRow) => void,
): HTMLElement {
  const { card } = seen;
  const tokens = tokensOf(card);
  return html(
    "div",
    {
      class: `table-row ${kindOf(card)}${isChosen ? " chosen" : ""}${isActive ? " active" : ""}`,
      role: "row",
      id: `row-${at}`,
      "aria-rowindex": at + 2,
      onclick: () => choose({ sample, seen, number }),
    },
    cell("problem", said(sample.id)),
    cell("number", String(number)),
    cell("type", said(card.message_type)),
    cell("from", said(card.sender)),
    cell("to", said(card.recipient)),
    cell("content", said(oneLine(card.content.slice(0, 300)))),
    cell("status", said(statusOf(card) ?? "")),
    cell("tokens", tokens > 0 ? count(tokens) : ""),
    cell("time", card.metadata.duration_ms ? duration(card.metadata.duration_ms) : ""),
  );
}

function cell(name: string, ...content: readonly (Node | string)[]): HTMLElement {
  return html("span", { role: "cell", class: `c-${name}` }, ...content);
}
