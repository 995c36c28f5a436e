/** The questions of the steps in their order, by their names in an address. */
export const QUESTIONS = {
  fit: "What is fitted?",
  peak: "Where is the peak, and why there?",
  causes: "What is the peak made of?",
  averaging: "What does averaging remove, and what stays?",
  ridge: "Can a penalty do the same?",
  "features-or-models": "One wide model, or many narrow ones?",
  divide: "Should every model have all the data?",
  "under-or-over": "More features than samples, or fewer?",
  claims: "What does the paper claim, and what is true?",
};
