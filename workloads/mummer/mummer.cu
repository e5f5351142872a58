// How much of each query, from each of its letters on, occurs in a reference text: its suffix tree (Weiner 1973) is walked
// down letter by letter; from one letter to the next a suffix link leads on, and what was read already is skipped edge by
// edge (Chang, Lawler 1994). A thread a query. Tree and text are two-dimensional textures, a node two texels of four
// words. Letters are 0 to 3.

#define WIDTH 2048 // texels of a row, of both textures
#define LETTERS 25

struct tree {
    cudaTextureObject_t nodes, text;
};

__device__ static uint4 texel(cudaTextureObject_t nodes, unsigned at)
{
    return tex2D<uint4>(nodes, at % WIDTH, at / WIDTH);
}

// Where the edge into a node begins and ends in the text, and the node's suffix link.
__device__ static uint4 edge_of(const struct tree &tree, unsigned node)
{
    return texel(tree.nodes, 2 * node);
}

__device__ static unsigned child_of(const struct tree &tree, unsigned node, unsigned letter)
{
    uint4 children = texel(tree.nodes, 2 * node + 1);
    return letter == 0 ? children.x : letter == 1 ? children.y : letter == 2 ? children.z : children.w;
}

__device__ static unsigned letter_of(const struct tree &tree, unsigned at)
{
    return tex2D<unsigned char>(tree.text, at % WIDTH, at / WIDTH);
}

extern "C" __global__ void mummer(unsigned char *matches, const unsigned char *queries, const struct tree tree,
                                  unsigned count)
{
    unsigned query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= count)
        return;
    queries += query * LETTERS;
    matches += query * LETTERS;
    unsigned node = 0, depth = 0; // the last node that was reached, and the letters that lead there
    unsigned length = 0;          // letters that are known to match
    for (unsigned first = 0; first < LETTERS; first++) {
        unsigned child = 0, at = 0, end = 0; // the edge that is being read; none where at == end
        // Down to where the last letter's match ended; only the first letter of an edge need be looked at.
        while (depth < length) {
            child = child_of(tree, node, queries[first + depth]);
            uint4 edge = edge_of(tree, child);
            if (depth + edge.y - edge.x > length) {
                at = edge.x + length - depth;
                end = edge.y;
                break;
            }
            depth += edge.y - edge.x;
            node = child;
        }
        // And on, letter by letter.
        while (first + length < LETTERS) {
            unsigned letter = queries[first + length];
            if (at == end) {
                child = child_of(tree, node, letter);
                if (child == 0)
                    break;
                uint4 edge = edge_of(tree, child);
                at = edge.x;
                end = edge.y;
            }
            if (letter_of(tree, at) != letter)
                break;
            at++;
            length++;
            if (at == end) {
                depth = length;
                node = child;
            }
        }
        matches[first] = length;
        // The same without its first letter: where the node's link leads; from a leaf and the root, to the root.
        node = edge_of(tree, node).z;
        depth = node == 0 ? 0 : depth - 1;
        if (length > 0)
            length--;
    }
}
