/** One problem of GSM8K. */
export interface Gsm8kSample {
  readonly dataset: "gsm8k";
  /** `gsm8k_` and its position in the split, from 0. */
  readonly id: string;
  readonly question: string;
  /** What follows `####`, as it stands there: `18`, `1,200`. */
  readonly gold: string;
  /** The human solution, without its last line. */
  readonly solution: string;
  /** The same in sub-questions; none unless the Socratic file was read too. */
  readonly steps: readonly Gsm8kStep[];
}

export interface Gsm8kStep {
  readonly question: string;
  /** The answer in prose; may have calculator annotations, `<<16-3-4=9>>`. */
  readonly text: string;
}

/** One problem of HotpotQA, distractor setting. */
export interface HotpotQaSample {
  readonly dataset: "hotpotqa";
  /** `hotpotqa_` and its `dev_index`, else its `_id`, else its position in the file. */
  readonly id: string;
  readonly question: string;
  readonly gold: string;
  /** `bridge` or `comparison`. */
  readonly type: string | undefined;
  readonly level: string | undefined;
  /** Two of them are needed, the others distract. */
  readonly paragraphs: readonly Paragraph[];
  /** The sentences that are needed. Gold, as `gold` is: nobody who answers may see it. */
  readonly supportingFacts: readonly SupportingFact[];
}

export interface Paragraph {
  readonly title: string;
  readonly sentences: readonly string[];
}

export interface SupportingFact {
  readonly title: string;
  /** The position of the sentence in its paragraph, from 0. */
  readonly sentence: number;
}

export type DatasetSample = Gsm8kSample | HotpotQaSample;
