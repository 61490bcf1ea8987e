/** All rules of the prose linter: the vocabulary, the length of sentences, and the length of lines. */

/** Words and phrases that readers stumble over, each with the standard wording and an example that the rule reports. */
export const VOCABULARY: readonly {
  readonly pattern: RegExp;
  readonly advice: string;
  readonly example: string;
}[] = [
  {
    pattern: /\b(?:who(?:so)?ever|whom|somebody|nobody|those who|someone else's)\b/i,
    advice: "name the role: caller, client, user",
    example: "whoever waits",
  },
  {
    pattern:
      /\b(?:of (?:its|their|one's|your|our) own|by (?:itself|themselves)|in words|anew|thereby|hereby)\b/i,
    advice: "say it plainly: own, separate, alone, explicitly, again",
    example: "in words",
  },
  {
    pattern: /\b(?:stands?|stood) (?:in|for|on|behind|beside|there|below|before|at|as|under|above)\b/i,
    advice: "is, contains, represents, appears in",
    example: "The name stands for the task",
  },
  {
    pattern: /\bbesides?\b/i,
    advice: "next to, with, alongside, in addition to",
    example: "beside the server",
  },
  {
    pattern: /\b(?:goes|going|go|went) on\b/i,
    advice: "continues, resumes",
    example: "the stream goes on",
  },
  {
    pattern: /\b(?:is|are|was|were|be|been|being)(?: not)? told\b|\btells?\b|\bhears?\b/i,
    advice: "receives, reports, logs, notifies",
    example: "is not told",
  },
  {
    pattern: /\b(?:comes?|came|coming|lets?) in\b/i,
    advice: "arrives, is accepted, authenticates",
    example: "the request comes in",
  },
  {
    pattern: /\bgives?\b(?! up after)|\bgiven up\b/i,
    advice: "returns, provides, sets, passes; stops delivering",
    example: "gives the answer",
  },
  {
    pattern: /\bsa(?:ys|id|ying)\b/i,
    advice: "states, contains, declares; only people say things",
    example: "the card says",
  },
  {
    pattern: /\bthere (?:is|are|was|were) (?:none|no such|nothing)\b|\b(?:is|are) none\b/i,
    advice: "does not exist, is missing, is empty",
    example: "there is none",
  },
  {
    pattern: /(?:^|[.:;] )What (?!is [^.]*\?)[^?]*$/,
    advice: 'start with the noun, not with a "what …" clause',
    example: "What the server stores.",
  },
  {
    pattern:
      /\b(?:of|with|to|for|from|by|behind|below) what (?:is|are|was|were|has|have|it|he|she|they|a|an|the)\b/i,
    advice: "name the thing",
    example: "the size of what is stored",
  },
  {
    pattern: /\ball that\b|\bthat which\b/i,
    advice: "everything, each X that; name the thing",
    example: "all that",
  },
  {
    pattern: /\bas (?:it|they|he|she) (?:is|are|was|were|stands?|stood|came|comes?)\b/i,
    advice: "unchanged, verbatim",
    example: "as it came",
  },
  {
    pattern: /\b(?:is|are|was|were) to be\b/i,
    advice: "must be, will be, should be",
    example: "is to be",
  },
  {
    pattern: /\b(?:believes?|knows nothing|dies without)\b/i,
    advice: "code accepts, verifies, exits; it does not believe or know",
    example: "it believes the token",
  },
  {
    pattern: /\bit cannot\b.*\b(?:at once|twice)\b/i,
    advice: "subject, verb, object; a condition first",
    example: "it cannot write at once",
  },
  {
    pattern: /\b(?:come|comes|came) to (?:the same|nothing|a good end|an end)\b/i,
    advice: "equals, ends, succeeds",
    example: "come to nothing",
  },
  {
    pattern: /\b(?:that than|and nobody else|and nothing else)\b/i,
    advice: "repeat the noun; use only",
    example: "and nothing else",
  },
  {
    pattern: /\bonce more\b|\bas well as it can\b|\bas far as that\b/i,
    advice: "again; state the limit",
    example: "once more",
  },
];

/** A sentence with more words than this is hard to read once. */
export const MAX_SENTENCE_WORDS = 40;

/** Longest line of a page outside of code and tables. */
export const MAX_COLUMNS = 120;
