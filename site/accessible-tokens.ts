/** The members of a markdown-it token that this module reads and writes. */
interface TaggedToken {
  readonly type: string;
  readonly content: string;
  tag: string;
}

/** Renumbers the headings of a page, so that a level is at most one below the heading that contains it. */
export function closeHeadingGaps(tokens: readonly TaggedToken[]): void {
  const containingLevels: number[] = [];
  for (const token of tokens) {
    if (token.type !== "heading_open" && token.type !== "heading_close") continue;
    if (token.type === "heading_open") {
      const level = Number(token.tag.slice(1));
      while ((containingLevels.at(-1) ?? 0) >= level) containingLevels.pop();
      containingLevels.push(level);
    }
    token.tag = `h${containingLevels.length}`;
  }
}

/** Makes empty header cells of tables ordinary cells, because screen readers announce headers. */
export function dropEmptyTableHeaders(tokens: readonly TaggedToken[]): void {
  for (const [at, token] of tokens.entries()) {
    const content = tokens[at + 1];
    const close = tokens[at + 2];
    if (token.type !== "th_open" || content?.content !== "" || close?.type !== "th_close") continue;
    token.tag = "td";
    close.tag = "td";
  }
}
