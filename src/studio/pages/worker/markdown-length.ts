/** Maximum length of Markdown in characters. Longer text is shown as plain text. */
export const MAX_MARKDOWN_LENGTH = 200_000;
