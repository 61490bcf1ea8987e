/**
 * Returns whether a text contains only an ellipsis, with or without quotation marks, brackets, or an answer
 * marker. Small models copy such placeholders from examples.
 */
export function isPlaceholderText(text: string): boolean {
  return /^(?:answer:)?[\s"'“”‘’<>[\](){}]*(?:…|\.{2,}|⋯)[\s"'“”‘’<>[\](){}.…]*$/i.test(text.trim());
}
