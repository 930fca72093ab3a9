"""Tags of words from a handful of sentences, and trees of the same."""
import bda

sentences = [["the", "old", "tree", "falls"], ["a", "tree", "stands"], ["the", "bird", "sees", "a", "tree"],
             ["old", "birds", "fall"], ["a", "bird", "sees", "the", "old", "bird"]]
tags = [["DET", "ADJ", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB", "DET", "NOUN"],
        ["ADJ", "NOUN", "VERB"], ["DET", "NOUN", "VERB", "DET", "ADJ", "NOUN"]]
heads = [[3, 3, 4, 0], [2, 3, 0], [2, 3, 0, 5, 3], [2, 3, 0], [2, 3, 0, 6, 6, 3]]

tagger = bda.Tagger().fit(sentences, tags)
new = [["the", "old", "bird", "falls"], ["a", "tree", "sees", "birds"]]
for words, found in zip(new, tagger.predict(new)):
    print(" ".join(f"{word}/{tag}" for word, tag in zip(words, found)))
assert tagger.score(sentences, tags) == 1

parser = bda.Parser().fit([list(zip(*pair)) for pair in zip(sentences, tags)], heads)
for words, found in zip(new, parser.predict([list(zip(*pair)) for pair in zip(new, tagger.predict(new))])):
    print(", ".join(f"{word} <- {words[head - 1] if head else 'ROOT'}" for word, (head, _) in zip(words, found)))
