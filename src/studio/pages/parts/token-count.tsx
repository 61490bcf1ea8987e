import type { VNode } from "preact";
import { formatPrice, formatTokens, NO_USAGE, type TokenUsage } from "../../../observe/trace/index.ts";
import { pluralize } from "../cards/text-format.ts";

/** The tokens of model calls. A title says why the number is unknown or a lower bound. */
export function TokenCount(props: {
  /** Missing if no model call was observed. */
  readonly usage: TokenUsage | undefined;
  /** Default: the sum of the tokens. */
  readonly text?: string;
  /** Words after the explanation, such as the tasks that are included. */
  readonly scope?: string;
}): VNode {
  const { usage = NO_USAGE, text = formatTokens(usage), scope = "" } = props;
  return <span title={explainTokens(usage) + scope}>{text}</span>;
}

function explainTokens({ calls, callsWithoutTokens }: TokenUsage): string {
  if (calls === 0) return "No model call was observed";
  if (callsWithoutTokens === 0) return "Tokens of the observed model calls";
  return callsWithoutTokens === calls
    ? "The agent reported no tokens"
    : `The agent reported no tokens for ${pluralize(callsWithoutTokens, "model call")}`;
}

/** Explains a missing cost where users look for it. Empty if a price is known, or if no tokens are known. */
export function explainMissingPrice(usage: TokenUsage, model = "the used models"): string {
  const hasTokens = usage.inputTokens + usage.outputTokens > 0;
  return hasTokens && formatPrice(usage) === ""
    ? `No price is known for ${model}, so that the cost is unknown. Add the price to a file, and pass the file with --prices.`
    : "";
}
