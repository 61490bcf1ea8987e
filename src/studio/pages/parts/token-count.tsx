import type { VNode } from "preact";
import { formatTokens, NO_USAGE, type TokenUsage } from "../../../observe/trace/index.ts";
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
