"""What is seen in each picture of the gallery, for those who cannot see it."""

ALTERNATIVES = {
    "idea": (
        "Left, forty points of age and income, each with a line to the mean of its group; "
        "right, the ten points that are released, each for four people."
    ),
    "linkage": (
        "Points of age and income with arrows to the nearest released point; most arrows end at "
        "the person's own group, some at another."
    ),
    "sweep": (
        "Two rising curves over k, what released values lose and a band below that holds what "
        "the best groups lose; both are steep at first and then flatter."
    ),
    "risk_utility": (
        "Points of information lost against records linked, in a colour for each k; those of a "
        "larger k lie lower and further right, below a dotted line at one over k."
    ),
    "twice": (
        "Bars of how many records look alike: nearly all share with five or six in each release "
        "alone, but most with four or fewer, and a fifth with none, when both are put together."
    ),
    "scales": (
        "Three panels of age and income with lines from records to what is released; compared "
        "in standard deviations, by logarithm and by rank, different records share groups."
    ),
    "blocks": (
        "Pairs of bars for one, two, five and ten blocks; with more blocks less information is "
        "lost, and more records are linked, far above the dotted line at one over k."
    ),
    "hybrid": (
        "Three panels of height and weight, of the original, of means and of hybrid records; "
        "the hybrid records are spread like the original, the means are not."
    ),
    "mdav": (
        "Four panels of the same points; in each round the record farthest from the mean and "
        "the one farthest from that form groups, until all points belong to one."
    ),
    "univariate": (
        "Two rows of incomes along a line; cut after every four values, groups reach across "
        "gaps, and the optimal ones do not."
    ),
    "path": (
        "Left, a path through points cut after every three records, with long groups; right, "
        "the same path cut where it is best, with short ones."
    ),
    "local_search": (
        "Groups of MDAV and the same after the search, the records that changed their group "
        "filled, and a curve of the loss that falls from round to round."
    ),
    "regions": (
        "Left, groups within four regions, several of the worst along the seams; right, the "
        "same points grouped again in regions that are cut in other directions, with fewer bad "
        "groups."
    ),
    "fuzzy": (
        "Points in the colour of the centre that they drew, joined to it by lines; with more "
        "fuzziness more lines are long and cross."
    ),
    "constraints": (
        "Points of rent and other costs around a falling line; the means of groups lie beside "
        "the line, and what is released lies on it."
    ),
    "bounds": (
        "Curves over k: MDAV loses most, then auto; the tight bound is hardly below auto, the "
        "fast one further."
    ),
    "methods": (
        "A bar for every method by what it loses, the shortest in orange for auto, and a dashed "
        "line below which no grouping can be."
    ),
    "units": (
        "Two panels of bars by patients behind a combination; counted in rows, most bars are "
        "below five and red, counted in patients, none is."
    ),
    "l_diversity": (
        "Two panels of groups of patients coloured by diagnosis; with k alone some groups have "
        "one colour, with l-diversity each has at least three."
    ),
    "t_closeness": (
        "Three panels of the distribution of salaries in every group as thin curves around a "
        "thick one of all; with a smaller t they are closer to it."
    ),
    "dominance": (
        "Two panels of groups by turnover and by the rest beside their two largest firms; "
        "without the rule some are in the red band below 20 per cent, with it none."
    ),
    "release": (
        "Two halves of a violin for every column, original and released; the means agree, and "
        "the released half is slightly narrower."
    ),
    "totals": (
        "Left, bars of how far totals are off, by one in some records without the constraint "
        "and by nothing with it; right, original and released points of gross and tax."
    ),
    "dates": (
        "Two panels of stays as bars from admission to discharge, by date of birth; released "
        "bars coincide in groups, and every one still ends after it begins."
    ),
    "missing": (
        "Three panels of age and income; those who did not answer are on a line below, stay "
        "there when missing is a value, and move among the others when imputed."
    ),
    "margins": (
        "Bars of how the total of each category changed; with the least loss frequent degrees "
        "gain and rare ones lose a dozen records, and hardly any change when totals are kept."
    ),
    "strata": (
        "Bars of how the mean income of four regions changed; groups across regions move it, "
        "groups within regions do not."
    ),
    "weights": (
        "Left, weighted means of three columns that change by next to nothing; right, a long "
        "bar of the expected re-identifications before and a short one after."
    ),
    "pipeline": (
        "Left, the accuracy of a model over k, close to the dashed line of one trained on the "
        "original; right, the information loss, which rises with k."
    ),
    "dataset": (
        "Left, bars of records behind a combination in all files, none below five; right, those "
        "of one year alone, many of them red and below five."
    ),
}
