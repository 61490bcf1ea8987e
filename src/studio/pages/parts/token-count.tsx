import type { VNode } from "preact";
import { formatPrice, formatTokens, NO_USAGE, type TokenUsage } from "../../../observe/trace/index.ts";
import { pluralize } from "../cards/text-format.ts";

/** The tokens of model calls. A title says why the number is unknown or a lower bound. */
export function TokenCount(props: {
  /** Missing if no model call was observed. */
  readonly usage: TokenUsage | undefined;
  /** Default: the sum of the tokens. */
  readonly text?: string;
}): VNode {
  const { usage = NO_USAGE, text = formatTokens(usage) } = props;
  return <span title={explainTokens(usage)}>{text}</span>;
}

function explainTokens({ calls, callsWithoutTokens }: TokenUsage): string {
  if (calls === 0) return "No model call was observed";
  if (callsWithoutTokens === 0) return "Tokens of the observed model calls";
  return callsWithoutTokens === calls
    ? "The agent reported no tokens"
    : `The agent reported no tokens for ${pluralize(callsWithoutTokens, "model call")}`;
}

/** Explains a missing cost where users look for it. Empty if a price is known, or if no tokens are known. */
export function explainMissingPrice(usage: TokenUsage): string {
  const hasTokens = usage.inputTokens + usage.outputTokens > 0;
  return hasTokens && formatPrice(usage) === ""
    ? "No prices are known, so that the cost is unknown. Pass a file with --prices."
    : "";
}
