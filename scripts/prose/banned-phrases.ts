/** Words and turns of phrase that readers stumble over, each with the standard wording. */
export interface BannedPhrase {
  readonly pattern: RegExp;
  readonly advice: string;
}

export const BANNED_PHRASES: readonly BannedPhrase[] = [
  {
    pattern: /\b(?:who(?:so)?ever|whom|somebody|nobody|those who|someone else's)\b/i,
    advice: "name the role: caller, client, user",
  },
  {
    pattern:
      /\b(?:of (?:its|their|one's|your|our) own|by (?:itself|themselves)|in words|anew|thereby|hereby)\b/i,
    advice: "say it plainly: own, separate, alone, explicitly, again",
  },
  {
    pattern: /\b(?:stands?|stood) (?:in|for|on|behind|beside|there|below|before|at|as|under|above)\b/i,
    advice: "is, contains, represents, appears in",
  },
  { pattern: /\bbesides?\b/i, advice: "next to, with, alongside, in addition to" },
  { pattern: /\b(?:goes|going|go|went) on\b/i, advice: "continues, resumes" },
  {
    pattern: /\b(?:is|are|was|were|be|been|being)(?: not)? told\b|\btells?\b|\bhears?\b/i,
    advice: "receives, reports, logs, notifies",
  },
  { pattern: /\b(?:comes?|came|coming|lets?) in\b/i, advice: "arrives, is accepted, authenticates" },
  {
    pattern: /\bgives?\b(?! up after)|\bgiven up\b/i,
    advice: "returns, provides, sets, passes; stops delivering",
  },
  { pattern: /\bsa(?:ys|id|ying)\b/i, advice: "states, contains, declares; only people say things" },
  {
    pattern: /\bthere (?:is|are|was|were) (?:none|no such|nothing)\b|\b(?:is|are) none\b/i,
    advice: "does not exist, is missing, is empty",
  },
  {
    pattern: /(?:^|[.:;] )What (?!is [^.]*\?)[^?]*$/,
    advice: 'start with the noun, not with a "what …" clause',
  },
  {
    pattern:
      /\b(?:of|with|to|for|from|by|behind|below) what (?:is|are|was|were|has|have|it|he|she|they|a|an|the)\b/i,
    advice: "name the thing",
  },
  { pattern: /\ball that\b|\bthat which\b/i, advice: "everything, each X that; name the thing" },
  {
    pattern: /\bas (?:it|they|he|she) (?:is|are|was|were|stands?|stood|came|comes?)\b/i,
    advice: "unchanged, verbatim",
  },
  { pattern: /\b(?:is|are|was|were) to be\b/i, advice: "must be, will be, should be" },
  {
    pattern: /\b(?:believes?|knows nothing|dies without)\b/i,
    advice: "code accepts, verifies, exits; it does not believe or know",
  },
  { pattern: /\bit cannot\b.*\b(?:at once|twice)\b/i, advice: "subject, verb, object; a condition first" },
  {
    pattern: /\b(?:hushed|heed|errand|desk|sitting|house rule|doorstep)\b/i,
    advice: "use the standard term",
  },
  {
    pattern: /\b(?:come|comes|came) to (?:the same|nothing|a good end|an end)\b/i,
    advice: "equals, ends, succeeds",
  },
  { pattern: /\b(?:that than|and nobody else|and nothing else)\b/i, advice: "repeat the noun; use only" },
  { pattern: /\bonce more\b|\bas well as it can\b|\bas far as that\b/i, advice: "again; state the limit" },
];
