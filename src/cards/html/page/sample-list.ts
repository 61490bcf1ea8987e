import type { PageSample } from "../run-model.ts";
import { type SampleSummary, summaryOf } from "../summary.ts";
import { oneLine } from "../../views/text-width.ts";
import { byId, html, said } from "./dom.ts";
import { Rows } from "./rows.ts";
import { count, duration } from "./words.ts";

const MARKS: Readonly<Record<SampleSummary["outcome"], readonly [mark: string, words: string]>> = {
  correct: ["✓", "correct"],
  wrong: ["✗", "wrong"],
  unscored: ["…", "not scored"],
  waiting: ["·", "not begun"],
};

/** The problems that match the filter, as a list box: one of them is chosen, the arrow keys choose another. */
export class SampleList {
  readonly #rows: Rows<PageSample>;
  readonly #choose: (id: string) => void;
  #chosen: string | undefined;

  constructor(choose: (id: string) => void) {
    this.#choose = choose;
    const element = byId("samples");
    this.#rows = new Rows<PageSample>(
      element,
      56,
      (sample, at) => this.#draw(sample, at),
      // A problem of which there is more is drawn again.
      ({ id, version }) => `${id} ${version} ${id === this.#chosen}`,
    );
    element.addEventListener("keydown", (event) => {
      const pages: Record<string, number> = { PageDown: this.#rows.page, PageUp: -this.#rows.page };
      const step = pages[event.key];
      if (step !== undefined) this.move(step);
      else if (event.key === "Home") this.move(Number.NEGATIVE_INFINITY);
      else if (event.key === "End") this.move(Number.POSITIVE_INFINITY);
      else return;
      event.preventDefault();
    });
  }

  show(samples: readonly PageSample[], chosen: string | undefined): void {
    const hasMoved = chosen !== this.#chosen;
    this.#chosen = chosen;
    this.#rows.items = samples;
    const at = samples.findIndex(({ id }) => id === chosen);
    if (at >= 0 && hasMoved) this.#rows.reveal(at);
    const active = this.#rows.drawn(at)?.id;
    if (active === undefined) this.#rows.element.removeAttribute("aria-activedescendant");
    else this.#rows.element.setAttribute("aria-activedescendant", active);
  }

  /** Chooses the problem that stands so many further down. */
  move(steps: number): void {
    const { items } = this.#rows;
    const at = items.findIndex(({ id }) => id === this.#chosen);
    const to = at < 0 ? (steps > 0 && Number.isFinite(steps) ? 0 : at + steps) : at + steps;
    const next = items[Math.min(items.length - 1, Math.max(0, to))];
    if (next) this.#choose(next.id);
  }

  #draw(sample: PageSample, at: number): HTMLElement {
    const summary = summaryOf(sample);
    const [mark, words] = MARKS[summary.outcome];
    const notes = [
      ...(summary.errors > 0 ? ["error"] : []),
      ...(summary.partial ? ["partial"] : []),
      ...(summary.tokens > 0 ? [`${count(summary.tokens)} tok`] : []),
      ...(summary.ms > 0 ? [duration(summary.ms)] : []),
    ].join(" · ");
    return html(
      "div",
      {
        class: `sample ${summary.outcome}`,
        role: "option",
        id: `sample-${at}`,
        "aria-selected": String(sample.id === this.#chosen),
        "aria-posinset": at + 1,
        "aria-setsize": this.#rows.items.length,
        onclick: () => this.#choose(sample.id),
      },
      html("span", { class: "mark", role: "img", "aria-label": words, title: words }, mark),
      said(sample.id === "" ? "(no problem)" : sample.id, { class: "id" }),
      html("span", { class: "notes" }, notes),
      said(oneLine(summary.question.slice(0, 160)), { class: "question" }),
    );
  }
}
