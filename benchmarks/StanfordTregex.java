import edu.stanford.nlp.ling.StringLabel;
import edu.stanford.nlp.trees.HeadFinder;
import edu.stanford.nlp.trees.LabeledScoredTreeNode;
import edu.stanford.nlp.trees.Tree;
import edu.stanford.nlp.trees.tregex.TregexMatcher;
import edu.stanford.nlp.trees.tregex.TregexPattern;
import edu.stanford.nlp.trees.tregex.TregexPatternCompiler;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Stanford's Tregex as a program that answers lines: stanford.py starts it. The fields of a line stand between tabs.
 *
 * <p>C forgets all trees. T and the nodes of a tree in pre-order, each "CHILDREN HEAD LABEL" with the head child counted
 * from 1, adds it. R and a class takes that class's head rules, R alone those heads. P and a pattern, perhaps with names
 * after it, is answered by the seconds it took and, for each match, "TREE:NODE" and ",NODE" for each name, -1 where
 * there is none; or by "!" and what is wrong. H is answered by the head child of each node, a field a tree; 0 is none.
 */
public class StanfordTregex {
  static final double MOST_SECONDS = 60; // a pattern may have very many ways to match

  static final List<Tree> trees = new ArrayList<>();
  static final List<Map<Tree, Integer>> numbers = new ArrayList<>(); // of the nodes of each tree
  static final Map<Tree, Integer> places = new IdentityHashMap<>(); // of the head children
  static final HeadFinder given = new HeadFinder() {
    public Tree determineHead(Tree tree) {
      return tree.isLeaf() ? null : tree.getChild(places.get(tree) - 1);
    }

    public Tree determineHead(Tree tree, Tree parent) {
      return determineHead(tree);
    }
  };
  static HeadFinder rules = given;

  static Tree read(Iterator<String> nodes, Map<Tree, Integer> number) {
    String[] node = nodes.next().split(" ", 3);
    Tree tree = new LabeledScoredTreeNode(new StringLabel(node[2]));
    number.put(tree, number.size());
    places.put(tree, Integer.valueOf(node[1]));
    for (int left = Integer.parseInt(node[0]); left > 0; --left) tree.addChild(read(nodes, number));
    return tree;
  }

  static String find(String text, List<String> names) {
    TregexPattern pattern = new TregexPatternCompiler(rules).compile(text);
    StringBuilder found = new StringBuilder();
    long begin = System.nanoTime();
    for (int i = 0; i < trees.size(); ++i) {
      Map<Tree, Integer> number = numbers.get(i);
      TregexMatcher matcher = pattern.matcher(trees.get(i));
      while (names.isEmpty() ? matcher.findNextMatchingNode() : matcher.find()) {
        found.append('\t').append(i).append(':').append(number.get(matcher.getMatch()));
        for (String name : names) found.append(',').append(number.getOrDefault(matcher.getNode(name), -1));
        if ((System.nanoTime() - begin) / 1e9 > MOST_SECONDS) return "!took too long";
      }
    }
    return (System.nanoTime() - begin) / 1e9 + found.toString();
  }

  static int headPlace(Tree node) {
    try {
      return node.isLeaf() ? 0 : 1 + node.objectIndexOf(rules.determineHead(node));
    } catch (IllegalArgumentException noRule) {
      return 0;
    }
  }

  static String heads() {
    StringJoiner all = new StringJoiner("\t");
    for (Tree tree : trees) {
      StringJoiner heads = new StringJoiner(" ");
      for (Tree node : tree) heads.add(String.valueOf(headPlace(node)));
      all.add(heads.toString());
    }
    return all.toString();
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    for (String line; (line = in.readLine()) != null;) {
      List<String> fields = Arrays.asList(line.split("\t"));
      switch (fields.get(0)) {
        case "C":
          trees.clear();
          numbers.clear();
          places.clear();
          break;
        case "T":
          numbers.add(new IdentityHashMap<>());
          trees.add(read(fields.listIterator(1), numbers.get(trees.size())));
          break;
        case "R":
          rules = fields.size() < 2 ? given : (HeadFinder) Class.forName(fields.get(1)).getConstructor().newInstance();
          break;
        case "H":
          out.println(heads());
          break;
        default:
          try {
            out.println(find(fields.get(1), fields.subList(2, fields.size())));
          } catch (RuntimeException error) {
            out.println("!" + error.getMessage().split("\n")[0]);
          }
      }
    }
    out.flush();
  }
}
